// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile=max-grid=8 --canonicalize --verify-semantics | FileCheck %s

// CHECK: drawloom.grid = 8 : i64
// CHECK-DAG: %[[ALL:.*]] = arith.constant 21 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 8 : index
// CHECK: %[[BLOCK:.*]] = tile.block_id
// CHECK: scf.for %[[NUMBER:.*]] = %[[BLOCK]] to %[[ALL]] step %[[STEP]]
// The last dimension counts fastest.
// CHECK: %[[COLUMN:.*]] = arith.remui %[[NUMBER]], %{{.*}}
// CHECK: %[[ROW:.*]] = arith.divui %[[NUMBER]], %{{.*}}
// CHECK: memref.subview %{{.*}}[%[[ROW]], %[[COLUMN]], 0]
func.func @f(%x: tensor<3x7x8xf32>) -> tensor<3x7x8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<3x7x8xf32>
  %y = scf.forall (%i, %j) in (3, 7) shared_outs(%o = %e) -> (tensor<3x7x8xf32>) {
    %r = tensor.extract_slice %x[%i, %j, 0] [1, 1, 8] [1, 1, 1] : tensor<3x7x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%i, %j, 0] [1, 1, 8] [1, 1, 1] : tensor<8xf32> into tensor<3x7x8xf32>
    }
  }
  return %y : tensor<3x7x8xf32>
}
