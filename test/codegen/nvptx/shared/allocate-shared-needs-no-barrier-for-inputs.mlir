// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-allocate-shared --verify-semantics | FileCheck %s

#t = #tile.layout<registers = [0:128*2], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32, 0:64]>

// Nobody writes an input, and what is stored once is not read again.
// CHECK-NOT: tile.barrier
func.func @f(%x: memref<256xf32>, %y: memref<256xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %0 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %1 = tile.load %x : memref<256xf32> -> tensor<256xf32, #t>
  %2 = arith.addf %0, %1 : tensor<256xf32, #t>
  tile.store %2, %y : tensor<256xf32, #t>, memref<256xf32>
  return
}
