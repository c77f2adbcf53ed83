// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s

// 3 times 4 of 8 rows are no view of memory, but a tile of 12 rows with zeros
// behind them. 6 of these become 8: what is gathered behind the sixth is not
// zero, and must not be added.
// CHECK-LABEL: @gram_0
// CHECK: %[[SIX:.*]] = tt.gather
// CHECK: %[[LEFT:.*]] = arith.select %{{.*}}, %[[SIX]], %[[ZERO:.*]] : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK: %[[A:.*]] = tt.trans %[[LEFT]]
// CHECK: %[[AGAIN:.*]] = tt.gather
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %[[AGAIN]], %[[ZERO]] : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK: tt.dot %[[A]], %[[B]],
func.func @gram(%x: tensor<3x8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %y = scf.forall (%block) in (1) shared_outs(%out = %empty) -> (tensor<8x8xf32>) {
    %part = tensor.extract_slice %x[0, 0, 0] [3, 4, 8] [1, 1, 1] : tensor<3x8x8xf32> to tensor<3x4x8xf32>
    %rows = tensor.collapse_shape %part [[0, 1], [2]] : tensor<3x4x8xf32> into tensor<12x8xf32>
    %six = tensor.extract_slice %rows[2, 0] [6, 8] [1, 1] : tensor<12x8xf32> to tensor<6x8xf32>
    %e = tensor.empty() : tensor<8x8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %p = linalg.contract
        indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%six, %six : tensor<6x8xf32>, tensor<6x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %out[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x8xf32>
    }
  }
  return %y : tensor<8x8xf32>
}
