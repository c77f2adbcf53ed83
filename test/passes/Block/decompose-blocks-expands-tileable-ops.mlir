// RUN: drawloom-opt %s --decompose-graph --verify-semantics | FileCheck %s --check-prefix=GRAPH
// RUN: drawloom-opt %s --decompose-blocks --verify-semantics | FileCheck %s --check-prefix=BLOCK

// An op that can be tiled is decomposed in its tile, not before.
// GRAPH: linalg.softmax
// BLOCK-NOT: linalg.softmax
// BLOCK: linalg.generic
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
