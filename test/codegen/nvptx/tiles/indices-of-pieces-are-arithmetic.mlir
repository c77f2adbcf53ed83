// RUN: drawloom-run %s --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Large enough to be cut into pieces, each of which adds its own offset to its indices.
func.func @identities(%x: tensor<4x1x128x128xf32>) -> tensor<4x1x128x128xf32> {
  %empty = tensor.empty() : tensor<4x1x128x128xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, h, i, j) -> (n, h, i, j)>, affine_map<(n, h, i, j) -> (n, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x1x128x128xf32>) outs(%empty : tensor<4x1x128x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %same = arith.cmpi eq, %i, %j : index
    %one = arith.uitofp %same : i1 to f32
    %sum = arith.addf %one, %in : f32
    linalg.yield %sum : f32
  } -> tensor<4x1x128x128xf32>
  return %0 : tensor<4x1x128x128xf32>
}
