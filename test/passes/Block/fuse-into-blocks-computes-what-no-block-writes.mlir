// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The blocks leave rows 4 to 7 as %x has them. What reads all rows is computed
// of these, too, and so stays behind the blocks.
// CHECK-LABEL: func.func @half
// CHECK-SAME: (%[[X:.*]]: tensor<8x16xf32>)
// CHECK: %[[Y:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[X]])
// CHECK-NOT: arith.negf
// CHECK: scf.forall.in_parallel
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<8x16xf32>)
// CHECK: arith.negf
// CHECK: return %[[Z]]
func.func @half(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = scf.forall (%i) in (4) shared_outs(%out = %x) -> tensor<8x16xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<1x16xf32>
    %twice = arith.addf %row, %row : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %out[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<8x16xf32>
    }
  }
  %empty = tensor.empty() : tensor<8x16xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}
