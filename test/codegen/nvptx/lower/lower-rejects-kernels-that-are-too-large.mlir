// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower=max-ops=20 -verify-diagnostics

#tile = #tile.layout<registers = [0:32*64], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
// expected-error @+1 {{would have more than 20 operations: its tiles are too large for the registers of its threads; cut it into smaller tiles}}
func.func @f(%x: memref<2048xf32>, %out: memref<2048xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<2048xf32> -> tensor<2048xf32, #tile>
  tile.store %t, %out : tensor<2048xf32, #tile>, memref<2048xf32>
  return
}
