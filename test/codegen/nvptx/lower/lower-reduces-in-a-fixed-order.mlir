// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#tile = #tile.layout<registers = [0:64*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32]>
#sum = #tile.layout<registers = [], lanes = [?, ?, ?, ?, ?], warps = [?]>
// Registers, lanes by butterfly, then warps through shared memory.
// CHECK: llvm.fadd
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: llvm.store
// CHECK: nvvm.barrier
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3>
// CHECK: llvm.fadd
func.func @f(%x: memref<128xf32>, %out: memref<f32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 8 : i64, drawloom.warps = 2 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #tile>
  %scratch = tile.alloc at 0 : memref<2x1xf32, 3>
  %s = tile.reduce add %t along [0] through %scratch : memref<2x1xf32, 3> : tensor<128xf32, #tile> -> tensor<f32, #sum>
  tile.store %s, %out : tensor<f32, #sum>, memref<f32>
  return
}
