// RUN: drawloom-opt %s --inline | FileCheck %s

// CHECK-LABEL: @caller
// CHECK: kan.silu
// CHECK: loss.mse
// CHECK-NOT: call
func.func private @callee(%x: tensor<4xf32>) -> tensor<f32> {
  %y = kan.silu %x : tensor<4xf32>
  %loss = loss.mse %x, %y : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<f32> {
  %loss = call @callee(%x) : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
