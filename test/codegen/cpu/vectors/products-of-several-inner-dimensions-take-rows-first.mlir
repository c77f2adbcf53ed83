// REQUIRES: avx2
// RUN: drawloom-run %s --isa=avx2 --random --compare=interpreter
// RUN: drawloom-run %s --isa=avx2 --compile-to=vectors | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The result's rows are the second factor's, and lie along memory there: tiles
// have as many as a vector holds. Loops of one step are left out.
// CHECK: vector.contract {{.*}} : vector<1x4xf64>, vector<1x8xf64> into vector<4x8xf64>
func.func @f(%x: tensor<9x16x1xf64>, %w: tensor<1x16x16xf64>, %y: tensor<16x9xf64>) -> tensor<16x9xf64> {
  %sum = linalg.contract
      indexing_maps = [affine_map<(c, k, l, r) -> (c, k, l)>, affine_map<(c, k, l, r) -> (l, k, r)>, affine_map<(c, k, l, r) -> (r, c)>]
      ins(%x, %w : tensor<9x16x1xf64>, tensor<1x16x16xf64>) outs(%y : tensor<16x9xf64>) -> tensor<16x9xf64>
  return %sum : tensor<16x9xf64>
}
