// RUN: drawloom-opt %s --cpu-tile-and-vectorize -verify-diagnostics

func.func @transpose(%x: tensor<?x4xf32> {drawloom.extents = array<i64: 0, -1>}) -> (tensor<4x?xf32> {drawloom.extents = array<i64: -1, 0>}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<4x?xf32>
  // expected-error@+1 {{is in no block program, and has an open extent; give the function's arguments static shapes}}
  %y = linalg.transpose ins(%x : tensor<?x4xf32>) outs(%empty : tensor<4x?xf32>) permutation = [1, 0]
  return %y : tensor<4x?xf32>
}
