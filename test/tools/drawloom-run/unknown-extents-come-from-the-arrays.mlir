// RUN: drawloom-run --target=interpreter %s --entry=make --output=%t.npy
// RUN: drawloom-run --target=interpreter %s --entry=take --input=%t.npy --print | FileCheck %s
// CHECK: result0: float32[3, 1] = {{\[\[}}1], [2], [3]]
func.func @make() -> tensor<3x1xf32> {
  %0 = arith.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
func.func @take(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  return %x : tensor<?x1xf32>
}
