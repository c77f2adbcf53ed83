// RUN: drawloom-run %s --random --compare=interpreter | FileCheck %s
// CHECK: result0: float32[]: {{.*}}: passed
// CHECK-NEXT: result1: float32[8, 16]: {{.*}}: passed
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
