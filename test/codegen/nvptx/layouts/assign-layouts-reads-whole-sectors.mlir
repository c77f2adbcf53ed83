// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --verify-semantics | FileCheck %s

// What nothing else fixes: a thread takes 16 bytes, its neighbours the next ones.
// CHECK-DAG: tile.load %{{.*}} : memref<64x64xf32> -> tensor<64x64xf32, #tile.layout<registers = [1:1, 1:2, 0:2*32], lanes = [1:4, 1:8, 1:16, 1:32, 0:1]
// CHECK-DAG: tile.load %{{.*}} : memref<64x64xbf16> -> tensor<64x64xbf16, #tile.layout<registers = [1:1, 1:2, 1:4, 0:4*16], lanes = [1:8, 1:16, 1:32, 0:1, 0:2]
func.func @f(%a: memref<64x64xf32>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>, %d: memref<64x64xbf16>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.warps = 1 : i64} {
  %0 = tile.load %a : memref<64x64xf32> -> tensor<64x64xf32>
  %1 = tile.load %b : memref<64x64xbf16> -> tensor<64x64xbf16>
  tile.store %0, %c : tensor<64x64xf32>, memref<64x64xf32>
  tile.store %1, %d : tensor<64x64xbf16>, memref<64x64xbf16>
  return
}
