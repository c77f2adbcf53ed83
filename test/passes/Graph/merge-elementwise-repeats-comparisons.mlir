// RUN: drawloom-opt %s --merge-elementwise --canonicalize --verify-semantics | FileCheck %s

// Two readers: each compares for itself, no tensor<8xi1> is kept.
// CHECK-LABEL: func.func @both
// CHECK-NOT: tensor<8xi1>
func.func @both(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %c = arith.cmpf ugt, %x, %zero : tensor<8xf32>
  %y = arith.select %c, %x, %zero : tensor<8xi1>, tensor<8xf32>
  %d = arith.select %c, %g, %zero : tensor<8xi1>, tensor<8xf32>
  return %y, %d : tensor<8xf32>, tensor<8xf32>
}
