// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-pipeline-copies --verify-semantics | FileCheck %s

// Only what the kernel just reads may be copied at any time; %c is written by it.
// CHECK-LABEL: @f
// CHECK: tile.load %arg1
// CHECK: tile.copy_async %arg0
// CHECK-NOT: tile.copy_async %arg1
func.func @f(%a: memref<64x16xbf16>, %c: memref<16x64xbf16>, %out: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %at = tile.load %a : memref<64x16xbf16> -> tensor<64x16xbf16>
  %ct = tile.load %c : memref<16x64xbf16> -> tensor<16x64xbf16>
  %sum = tile.dot %at, %ct, %start : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
  %narrow = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  %first = tile.splat %zero : f32 -> tensor<16x64xf32>
  %none = arith.truncf %first : tensor<16x64xf32> to tensor<16x64xbf16>
  tile.store %none, %c : tensor<16x64xbf16>, memref<16x64xbf16>
  tile.store %sum, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}
