// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-expand-conversions --nvptx-allocate-shared="limit=100000" --nvptx-lower --verify-semantics | FileCheck %s

// Eight neighbouring columns of 16 bits in a thread; the right operand lies in the order of the instructions, its pairs of
// columns 8 apart.
// CHECK-LABEL: @one_product
// CHECK: nvvm.mma.sync
// CHECK-NOT: llvm.store %{{.*}} vector<2xbf16>
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
func.func @one_product(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %out: memref<64x64xbf16>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %at = tile.load %a : memref<64x64xbf16> -> tensor<64x64xbf16>
  %bt = tile.load %b : memref<64x64xbf16> -> tensor<64x64xbf16>
  %sum = tile.dot %at, %bt, %start : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %narrow = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %narrow, %out : tensor<64x64xbf16>, memref<64x64xbf16>
  return
}
