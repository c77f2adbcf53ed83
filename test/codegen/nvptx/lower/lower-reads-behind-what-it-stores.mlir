// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#rows = #tile.layout<registers = [1:1, 1:2, 1:4, 1:8, 1:16, 1:32], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>

// Long tiles go part by part, loads in front: not where one reads what the tile before it has stored.
// CHECK-LABEL: llvm.func @f
// CHECK: llvm.store %{{.*}}, %{{.*}} : vector<4xf32>, !llvm.ptr<1>
func.func @f(%x: memref<32x64xf32>, %y: memref<32x64xf32>, %z: memref<32x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %a = tile.load %x : memref<32x64xf32> -> tensor<32x64xf32, #rows>
  %b = arith.addf %a, %a : tensor<32x64xf32, #rows>
  tile.store %b, %y : tensor<32x64xf32, #rows>, memref<32x64xf32>
  %c = tile.load %y : memref<32x64xf32> -> tensor<32x64xf32, #rows>
  %d = arith.mulf %c, %c : tensor<32x64xf32, #rows>
  tile.store %d, %z : tensor<32x64xf32, #rows>, memref<32x64xf32>
  return
}
