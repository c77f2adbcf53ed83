// RUN: drawloom-opt %s --canonicalize --verify-semantics --verify-semantics-entry=f | FileCheck %s

// @g could not be interpreted: it reads beyond its tensor.
// CHECK: func.func @f
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>, %i: index {check.range = array<f64: 9.0, 9.0>}) -> f32 {
  %0 = tensor.extract %a[%i] : tensor<4xf32>
  return %0 : f32
}
