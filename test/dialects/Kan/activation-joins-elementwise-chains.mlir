// RUN: drawloom-opt %s --merge-elementwise | FileCheck %s

// An activation on a tensor moves into the body of its neighbours' generic.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}} : f32
// CHECK-NEXT: kan.silu %[[SUM]] : f32
// CHECK-NOT: linalg.generic
func.func @chain(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = arith.addf %a, %b : tensor<4x8xf32>
  %1 = kan.silu %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
