// RUN: drawloom-opt %s --cpu-verify-vectors -split-input-file -verify-diagnostics

func.func @left(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'linalg.copy' op is left after vectorization}}
  %z = linalg.copy ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
