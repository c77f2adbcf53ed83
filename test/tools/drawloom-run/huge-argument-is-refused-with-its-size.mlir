// RUN: not drawloom-run --target=interpreter %s --random 2>&1 | FileCheck %s
// CHECK: error: argument 0 of @f, float32[1000000, 1000000000], with those before it needs 3.6 PiB of memory; {{.*}} are available
func.func @f(%x: tensor<1000000x1000000000xf32>) -> tensor<1000000x1000000000xf32> {
  return %x : tensor<1000000x1000000000xf32>
}
