// RUN: drawloom-opt %s --decompose-graph --merge-elementwise --canonicalize | FileCheck %s

// CHECK-LABEL: @relu
// CHECK-NOT: tensor<?x8xf32>
// CHECK: return
func.func @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %unknown = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  %y = kan.relu %unknown : tensor<?x8xf32>
  %known = tensor.cast %y : tensor<?x8xf32> to tensor<4x8xf32>
  return %known : tensor<4x8xf32>
}
