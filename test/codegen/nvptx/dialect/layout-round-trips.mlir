// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Digits of 8 values in registers, bits that change nothing in lanes and warps.
// CHECK: #tile.layout<registers = [1:1, 0:8, 1:8*8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = [0:16, ?]>
// CHECK: #tile.layout<registers = [1:1, 0:8, 1:8*3], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = [0:16, ?]>
#a = #tile.layout<registers = [1:1, 0:8, 1:8*8], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = [0:16, ?]>
#b = #tile.layout<registers = [1:1*2, 0:8, 1:8*3], lanes = [1:2, 1:4, 0:1, 0:2, 0:4], warps = [0:16, ?]>
func.func @f(%x: tensor<32x64xf32, #a>, %y: tensor<32x24xf32, #b>) {
  %0 = tile.convert %x : tensor<32x64xf32, #a> -> tensor<32x64xf32, #a>
  return
}
