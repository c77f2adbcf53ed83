// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// Narrow coefficients are widened ahead of the spread: their gradients are then
// summed in f32 and rounded once.
// CHECK-LABEL: func.func @bf16
// CHECK-DAG: arith.extf %{{.*}} : tensor<1x2xbf16> to tensor<1x2xf32>
// CHECK-DAG: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @bf16(%x: tensor<8xbf16>, %a: tensor<1x2xbf16>, %b: tensor<2x1xf32>) -> tensor<8xbf16> {
  %0 = kan.rational %x, %a, %b : tensor<8xbf16>, tensor<1x2xbf16>, tensor<2x1xf32>
  return %0 : tensor<8xbf16>
}
