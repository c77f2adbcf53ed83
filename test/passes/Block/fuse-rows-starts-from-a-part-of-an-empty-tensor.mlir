// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// A part of a larger empty tensor, of lower rank, is what the rows are written into.
// CHECK-LABEL: func.func @f
// CHECK: scf.forall
#rc = affine_map<(r, c) -> (r, c)>
func.func @f(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>, %z: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %empty = tensor.empty() : tensor<1x1x32x32xf32>
  %part = tensor.extract_slice %empty[0, 0, 0, 0] [1, 1, 32, 32] [1, 1, 1, 1] : tensor<1x1x32x32xf32> to tensor<32x32xf32>
  %copy = linalg.copy ins(%z : tensor<32x32xf32>) outs(%part : tensor<32x32xf32>) -> tensor<32x32xf32>
  %product = linalg.matmul ins(%y, %x : tensor<32x32xf32>, tensor<32x32xf32>) outs(%copy : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %product : tensor<32x32xf32>
}
