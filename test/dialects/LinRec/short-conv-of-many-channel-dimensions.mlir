// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seven dimensions of channels: more than a part of a convolution has loops for, so it is computed by itself.
func.func @many(%x: tensor<1x4x1x1x1x1x2x1x4xf32>, %w: tensor<1x1x1x1x2x1x4x3xf32>) -> tensor<1x4x1x1x1x1x2x1x4xf32> {
  %y, %last = linrec.short_conv silu %x, %w : (tensor<1x4x1x1x1x1x2x1x4xf32>, tensor<1x1x1x1x2x1x4x3xf32>) -> (tensor<1x4x1x1x1x1x2x1x4xf32>, tensor<1x2x1x1x1x1x2x1x4xf32>)
  %e = tensor.empty() : tensor<1x4x1x1x1x1x2x1x4xf32>
  %r = scf.forall (%t) in (2) shared_outs(%all = %e) -> tensor<1x4x1x1x1x1x2x1x4xf32> {
    %c2 = arith.constant 2 : index
    %at = arith.muli %t, %c2 : index
    %p = tensor.extract_slice %y[0, %at, 0, 0, 0, 0, 0, 0, 0] [1, 2, 1, 1, 1, 1, 2, 1, 4] [1, 1, 1, 1, 1, 1, 1, 1, 1] : tensor<1x4x1x1x1x1x2x1x4xf32> to tensor<2x1x1x1x1x2x1x4xf32>
    %q = arith.addf %p, %p : tensor<2x1x1x1x1x2x1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %all[0, %at, 0, 0, 0, 0, 0, 0, 0] [1, 2, 1, 1, 1, 1, 2, 1, 4] [1, 1, 1, 1, 1, 1, 1, 1, 1] : tensor<2x1x1x1x1x2x1x4xf32> into tensor<1x4x1x1x1x1x2x1x4xf32>
    }
  }
  return %r : tensor<1x4x1x1x1x1x2x1x4xf32>
}
