// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-pad-buffers --nvptx-pipeline-copies --verify-semantics | FileCheck %s

// Rows of 32 bytes, 48 apart: the eight lanes that copy 16 bytes each at once take the halves of rows 0, 2, 4 and 6. Of rows 0 to
// 3, two pieces would lie in the same banks.
// CHECK-LABEL: @f
// CHECK: %[[BUFFER:.*]] = tile.alloc : memref<64x16xbf16, strided<[24, 1]>, 3>
// CHECK: tile.copy_async %arg0, %[[BUFFER]] by tensor<64x16xbf16, #tile.layout<registers = [1:1, 1:2, 1:4], lanes = [1:8, 0:2, 0:4, 0:1, 0:8]
func.func @f(%a: memref<64x16xbf16>, %b: memref<16x64xbf16>, %out: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %at = tile.load %a : memref<64x16xbf16> -> tensor<64x16xbf16>
  %bt = tile.load %b : memref<16x64xbf16> -> tensor<16x64xbf16>
  %sum = tile.dot %at, %bt, %start : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
  tile.store %sum, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}
