// RUN: drawloom-run --target=interpreter %s --entry=make --output=%t.npy
// RUN: not drawloom-run --target=interpreter %s --entry=f --input=%t.npy 2>&1 | FileCheck %s
// CHECK: error: argument 0 of @f ('{{.*}}.npy'): the argument is float32[2, 3], but the array is float32[3, 2]
func.func @make() -> tensor<3x2xf32> {
  %0 = arith.constant dense<1.0> : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
