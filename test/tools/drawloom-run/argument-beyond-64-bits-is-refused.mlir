// RUN: not drawloom-run --target=interpreter %s --random 2>&1 | FileCheck %s
// CHECK: error: argument 0 of @f: float32[4000000000000, 4000000000000] needs {{.*}} EiB, more than 64 bits can count
func.func @f(%x: tensor<4000000000000x4000000000000xf32>) {
  return
}
