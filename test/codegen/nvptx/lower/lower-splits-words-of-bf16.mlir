// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --nvptx-lower=split-words=false --verify-semantics | FileCheck %s --check-prefix=APART

// Two bf16 that one load brought in one word become two f32 by an instruction
// each: a shift, and a mask for the upper half.
#tile = #tile.layout<registers = [0:1*2], lanes = [0:2, 0:4, 0:8, 0:16, 0:32], warps = []>
// CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK: llvm.shl %[[WORD]]
// CHECK: llvm.and %[[WORD]]
// CHECK-NOT: llvm.fpext
// APART-NOT: llvm.shl %{{.*}} : i32
// APART: llvm.fpext
func.func @f(%x: memref<64xbf16>, %out: memref<64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<64xbf16> -> tensor<64xbf16, #tile>
  %w = arith.extf %t : tensor<64xbf16, #tile> to tensor<64xf32, #tile>
  tile.store %w, %out : tensor<64xf32, #tile>, memref<64xf32>
  return
}
