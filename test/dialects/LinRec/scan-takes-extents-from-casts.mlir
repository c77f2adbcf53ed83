// RUN: drawloom-opt %s --canonicalize | FileCheck %s

// What a call gave reaches the op and its results.
// CHECK-LABEL: func.func @f
// CHECK: linrec.scan %arg0, %arg0, %arg1 : (tensor<1x20x2x16xf32>, tensor<1x20x2x16xf32>, tensor<1x20x2x8xf32>)
// CHECK-SAME: -> (tensor<1x20x2x8xf32>, tensor<1x2x16x8xf32>)
func.func @f(%q: tensor<1x20x2x16xf32>, %v: tensor<1x20x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x16x8xf32>) {
  %open_q = tensor.cast %q : tensor<1x20x2x16xf32> to tensor<?x?x2x16xf32>
  %open_v = tensor.cast %v : tensor<1x20x2x8xf32> to tensor<?x?x2x8xf32>
  %o, %s = linrec.scan %open_q, %open_q, %open_v
    : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x16x8xf32>)
  return %o, %s : tensor<?x?x2x8xf32>, tensor<?x2x16x8xf32>
}

// CHECK-LABEL: func.func @gradient
// CHECK: linrec.scan_bwd
// CHECK-SAME: -> (tensor<1x20x2x16xf32>, tensor<1x20x2x16xf32>, tensor<1x20x2x8xf32>)
func.func @gradient(%q: tensor<1x20x2x16xf32>, %v: tensor<1x20x2x8xf32>) -> tensor<?x?x2x16xf32> {
  %open_q = tensor.cast %q : tensor<1x20x2x16xf32> to tensor<?x?x2x16xf32>
  %open_v = tensor.cast %v : tensor<1x20x2x8xf32> to tensor<?x?x2x8xf32>
  %d:3 = linrec.scan_bwd %open_q, %open_q, %open_v cotangents(%open_v)
    : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>)
   -> (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x8xf32>)
  return %d#0 : tensor<?x?x2x16xf32>
}
