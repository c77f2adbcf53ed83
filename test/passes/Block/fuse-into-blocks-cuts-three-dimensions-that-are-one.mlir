// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of rows that three dimensions count, the outer two of different extents,
// blocks take those of the last one.
#id = affine_map<(r, c) -> (r, c)>
func.func @parts(%x: tensor<24x64xf32>) -> tensor<2x3x4x64xf32> {
  %e0 = tensor.empty() : tensor<24x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<24x64xf32>) outs(%e0 : tensor<24x64xf32>) {
  ^bb0(%e: f32, %a: f32):
    %q = arith.mulf %e, %e : f32
    linalg.yield %q : f32
  } -> tensor<24x64xf32>
  %z = tensor.expand_shape %y [[0, 1, 2], [3]] output_shape [2, 3, 4, 64] : tensor<24x64xf32> into tensor<2x3x4x64xf32>
  %e1 = tensor.empty() : tensor<2x3x4x64xf32>
  %o = scf.forall (%i, %j) in (2, 3) shared_outs(%out = %e1) -> (tensor<2x3x4x64xf32>) {
    %t = tensor.extract_slice %z[%i, %j, 0, 0] [1, 1, 4, 64] [1, 1, 1, 1] : tensor<2x3x4x64xf32> to tensor<4x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %out[%i, %j, 0, 0] [1, 1, 4, 64] [1, 1, 1, 1] : tensor<4x64xf32> into tensor<2x3x4x64xf32>
    }
  }
  return %o : tensor<2x3x4x64xf32>
}
