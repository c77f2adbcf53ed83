// RUN: drawloom-run %s --compile-from=blocks --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both loops go on from one fill: that must not be the memory of the first result,
// in which the second one is computed.
func.func @sums(%x: tensor<64x4x32xf32>, %y: tensor<64x4x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %a = scf.forall (%i) = (0) to (64) step (8) shared_outs(%out = %fill) -> (tensor<64x32xf32>) {
    %in = tensor.extract_slice %x[%i, 0, 0] [8, 4, 32] [1, 1, 1] : tensor<64x4x32xf32> to tensor<8x4x32xf32>
    %own = tensor.extract_slice %out[%i, 0] [8, 32] [1, 1] : tensor<64x32xf32> to tensor<8x32xf32>
    %sum = linalg.reduce { arith.addf } ins(%in : tensor<8x4x32xf32>) outs(%own : tensor<8x32xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%i, 0] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<64x32xf32>
    }
  }
  %b = scf.forall (%i) = (0) to (64) step (8) shared_outs(%out = %fill) -> (tensor<64x32xf32>) {
    %in = tensor.extract_slice %y[%i, 0, 0] [8, 4, 32] [1, 1, 1] : tensor<64x4x32xf32> to tensor<8x4x32xf32>
    %own = tensor.extract_slice %out[%i, 0] [8, 32] [1, 1] : tensor<64x32xf32> to tensor<8x32xf32>
    %sum = linalg.reduce { arith.addf } ins(%in : tensor<8x4x32xf32>) outs(%own : tensor<8x32xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%i, 0] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<64x32xf32>
    }
  }
  return %a, %b : tensor<64x32xf32>, tensor<64x32xf32>
}
