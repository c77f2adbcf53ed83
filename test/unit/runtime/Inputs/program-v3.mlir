// program-v3.drawloom is this program as the first version that saved files
// compiled it, by
//   drawloom-translate --mlir-to-artifact --isa=baseline,avx2
// It stays as it is: every later library must load it.

func.func @sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// A scalar, and functions of the C library.
func.func @power(%x: tensor<3xf64>, %s: f64) -> (tensor<3xf64>, f64) {
  %p = math.powf %x, %x : tensor<3xf64>
  %e = math.exp %s : f64
  return %p, %e : tensor<3xf64>, f64
}

// Constants that come with the code.
func.func @weigh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %w = arith.constant dense<[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]> : tensor<8xf32>
  %y = arith.mulf %x, %w : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Blocks of rows, a workspace, and sums over all rows.
func.func private @loss(%x: tensor<500x8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<500x8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<500x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<500x8xf32>) -> tensor<500x8xf32>
  %p = kan.silu %z : tensor<500x8xf32>
  %l = loss.mse %p, %x : tensor<500x8xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<500x8xf32>, %w: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>) {
  %l, %dw = ad.value_and_grad @loss(%x, %w) wrt [1] : (tensor<500x8xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>)
  return %l, %dw : tensor<f32>, tensor<8x8xf32>
}
