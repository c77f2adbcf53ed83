// RUN: drawloom-opt %s --merge-elementwise --verify-semantics | FileCheck %s

// A value with two users is computed once.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @shared(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = math.exp %a : tensor<4x8xf32>
  %1 = arith.mulf %0, %a : tensor<4x8xf32>
  %2 = math.sin %0 : tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}
