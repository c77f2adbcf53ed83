// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.addf
// CHECK: arith.divf
func.func @softmax(%x: tensor<2x?x5xf32>) -> tensor<2x?x5xf32> {
  %0 = loss.softmax %x : tensor<2x?x5xf32>
  return %0 : tensor<2x?x5xf32>
}
