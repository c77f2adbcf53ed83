// RUN: drawloom-run --target=interpreter %s --entry=make --output=%t.npy
// RUN: not drawloom-run --target=interpreter %s --entry=f --input=%t.npy 2>&1 | FileCheck %s
// RUN: drawloom-run --target=interpreter %s --entry=f --input=%t.npy --convert --print | FileCheck %s --check-prefix=CONVERTED
// CHECK: error: argument 0 of @f ('{{.*}}.npy'): the argument is float32[2, 3], but the array is float64[2, 3]; --convert converts it
// CONVERTED: result0: float32[2, 3] = {{\[\[}}2, 2, 2], [2, 2, 2]]
func.func @make() -> tensor<2x3xf64> {
  %0 = arith.constant dense<1.0> : tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
