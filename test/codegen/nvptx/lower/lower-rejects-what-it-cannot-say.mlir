// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower -split-input-file -verify-diagnostics

#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
func.func @strides(%x: memref<64xf32>, %by: index, %out: memref<32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  // expected-error @+1 {{steps along memory by a number that is not known, which has no form on a GPU yet}}
  %part = memref.subview %x[0] [32] [%by] : memref<64xf32> to memref<32xf32, strided<[?]>>
  %t = tile.load %part : memref<32xf32, strided<[?]>> -> tensor<32xf32, #line>
  tile.store %t, %out : tensor<32xf32, #line>, memref<32xf32>
  return
}

// -----

func.func @extents(%x: memref<64x32xf32>, %which: index, %out: memref<index>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  // expected-error @+1 {{asks for an extent that is not known by number}}
  %n = memref.dim %x, %which : memref<64x32xf32>
  memref.store %n, %out[] : memref<index>
  return
}
