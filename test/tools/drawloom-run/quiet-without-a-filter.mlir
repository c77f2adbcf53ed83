// RUN: drawloom-run %s --random --seed=1 2>&1 | FileCheck %s --allow-empty --implicit-check-not=remark

// A scalar sum over rows of three columns, which the backend could do better.
func.func @sum(%x: tensor<64x3xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce ins(%x : tensor<64x3xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %s : tensor<f32>
}
