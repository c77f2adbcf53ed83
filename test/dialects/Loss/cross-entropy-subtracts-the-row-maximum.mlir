// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @labels
// CHECK: arith.maximumf
// CHECK: %[[SHIFTED:.*]] = arith.subf
// CHECK: math.exp %[[SHIFTED]]
// CHECK: linalg.index 1
// CHECK-NOT: loss.
func.func @labels(%x: tensor<?x10xf32>, %l: tensor<?xi32>) -> tensor<f32> {
  %0 = loss.softmax_cross_entropy %x, %l : tensor<?x10xf32>, tensor<?xi32> -> tensor<f32>
  return %0 : tensor<f32>
}
