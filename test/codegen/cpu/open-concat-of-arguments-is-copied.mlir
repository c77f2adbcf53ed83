// A concatenation of arguments alone is in no block of rows: its parts are copied, for any number of rows.
// RUN: drawloom-run %s --random --shape=0:5x4 --open --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --random --shape=0:100x4 --open --compare=interpreter | FileCheck %s
// CHECK: passed

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %y = tensor.concat dim(1) %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
