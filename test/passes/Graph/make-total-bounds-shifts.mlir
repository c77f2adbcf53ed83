// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @shift
// CHECK: arith.minui
// CHECK: arith.shli
// CHECK: arith.minui
// CHECK: arith.shrui
// CHECK: arith.minui
// CHECK: arith.shrsi
func.func @shift() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %a = arith.constant dense<[7, -7, 7, -7]> : tensor<4xi8>
  %b = arith.constant dense<[8, -1, 3, 100]> : tensor<4xi8>
  %0 = arith.shli %a, %b : tensor<4xi8>
  %1 = arith.shrui %a, %b : tensor<4xi8>
  %2 = arith.shrsi %a, %b : tensor<4xi8>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}
