// RUN: drawloom-run %s --random --target=interpreter --float64 --output=%t.input.npz
// RUN: drawloom-run %s --random --target=interpreter --compile-to=structured --print | FileCheck %s
// RUN: drawloom-run %s --random --target=interpreter --compile-to=blocks --print | FileCheck %s
// RUN: not drawloom-run %s --random --target=interpreter --compile-to=buffers 2>&1 | FileCheck %s --check-prefix=LATE
// CHECK: result0: float32[] = 0.
// LATE: error: the interpreter runs programs up to phase 'blocks'
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
