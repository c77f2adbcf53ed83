// RUN: drawloom-opt %s --bind-extents | FileCheck %s

// What is added to eight rows has eight rows: a call cannot choose.
// CHECK-LABEL: func.func @known
// CHECK-NOT: drawloom.extents
// CHECK: return
func.func @known(%x: tensor<?x4xf32>, %y: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %open = tensor.cast %y : tensor<8x4xf32> to tensor<?x4xf32>
  %sum = linalg.add ins(%x, %open : tensor<?x4xf32>, tensor<?x4xf32>) outs(%open : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %sum : tensor<?x4xf32>
}
