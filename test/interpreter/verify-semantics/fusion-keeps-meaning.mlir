// RUN: drawloom-opt %s --convert-elementwise-to-linalg --linalg-fuse-elementwise-ops \
// RUN:   --verify-semantics=1 | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @chain(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = arith.mulf %a, %b : tensor<3x4xf32>
  %1 = math.exp %0 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
