// RUN: rm -rf %t && drawloom-run %s --random --dump-phases-to=%t
// RUN: FileCheck %s --check-prefix=INPUT < %t/0-input.mlir
// RUN: FileCheck %s --check-prefix=DIFFERENTIATED < %t/1-differentiated.mlir
// RUN: FileCheck %s --check-prefix=LLVM < %t/7-llvm.mlir
// INPUT: ad.value_and_grad
// DIFFERENTIATED-NOT: ad.value_and_grad
// LLVM: llvm.func @drawloom_step
func.func private @loss(%x: tensor<64x8xf32>, %w: tensor<8x16xf32>, %t: tensor<64x16xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %z = linalg.matmul ins(%x, %w : tensor<64x8xf32>, tensor<8x16xf32>) outs(%zero : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = kan.silu %z : tensor<64x16xf32>
  %l = loss.mse %y, %t : tensor<64x16xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @step(%x: tensor<64x8xf32>, %w: tensor<8x16xf32>, %t: tensor<64x16xf32>) -> (tensor<f32>, tensor<8x16xf32>) {
  %l, %dw = ad.value_and_grad @loss(%x, %w, %t) wrt [1]
      : (tensor<64x8xf32>, tensor<8x16xf32>, tensor<64x16xf32>) -> (tensor<f32>, tensor<8x16xf32>)
  return %l, %dw : tensor<f32>, tensor<8x16xf32>
}
