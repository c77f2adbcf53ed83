// RUN: not drawloom-run --target=interpreter %s 2>&1 | FileCheck %s
// CHECK: error: @f takes 1 arguments, but 0 were given: argument 0 is float32[2, 3]. --input=FILE.npy gives it, --random makes all up
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
