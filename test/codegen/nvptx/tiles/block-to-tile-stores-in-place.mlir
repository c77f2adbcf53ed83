// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile --canonicalize --verify-semantics | FileCheck %s

// A row of the result that a loop writes part by part is written in global memory: no shared memory, no copies.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: memref<4x64xf32>, %[[Y:.*]]: memref<4x64xf32>)
// CHECK-SAME: drawloom.grid = 4 : i64, drawloom.inputs = 1 : i64
// CHECK-NOT: tile.alloc
// CHECK: %[[BLOCK:.*]] = tile.block_id
// CHECK: %[[ROW:.*]] = memref.subview %[[Y]][%[[BLOCK]], 0] [1, 64] [1, 1]
// CHECK: scf.for %[[I:.*]] =
// CHECK: tile.load
// CHECK: %[[PART:.*]] = memref.subview %[[ROW]][%[[I]]] [16] [1]
// CHECK: tile.store %{{.*}}, %[[PART]]
// CHECK-NOT: tile.store
// CHECK: return
func.func @f(%x: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {drawloom.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<4x64xf32>
  %y = scf.forall (%b) in (4) shared_outs(%o = %e) -> (tensor<4x64xf32>) {
    %row = tensor.extract_slice %o[%b, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
    %done = scf.for %i = %c0 to %c64 step %c16 iter_args(%r = %row) -> (tensor<64xf32>) {
      %in = tensor.extract_slice %x[%b, %i] [1, 16] [1, 1] : tensor<4x64xf32> to tensor<16xf32>
      %next = tensor.insert_slice %in into %r[%i] [16] [1] : tensor<16xf32> into tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %done into %o[%b, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<4x64xf32>
    }
  }
  return %y : tensor<4x64xf32>
}
