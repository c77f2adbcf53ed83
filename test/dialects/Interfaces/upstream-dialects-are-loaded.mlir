// RUN: drawloom-opt %s --convert-elementwise-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @add
// CHECK: linalg.generic
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
