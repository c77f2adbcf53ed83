// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @bf16
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "reduction"]
// CHECK-COUNT-2: arith.extf
// CHECK: arith.subf %{{.*}} : f32
// CHECK: %[[SQUARE:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[SQUARE]] : f32
func.func @bf16(%y: tensor<4x3xbf16>, %t: tensor<4x3xbf16>) -> tensor<f32> {
  %0 = loss.mse %y, %t : tensor<4x3xbf16> -> tensor<f32>
  return %0 : tensor<f32>
}
