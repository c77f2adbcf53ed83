// RUN: not drawloom-run %s 2>&1 | FileCheck %s
// CHECK: drawloom-run: error: {{.*}}needs 3.6 PiB of memory; {{.*}} are available
func.func @f() -> tensor<1000000x1000000000xf32> {
  %0 = arith.constant 1.0 : f32
  %1 = tensor.splat %0 : tensor<1000000x1000000000xf32>
  return %1 : tensor<1000000x1000000000xf32>
}
