// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower -split-input-file --verify-semantics | FileCheck %s

#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
// The last elements of the padded tile are not there: their threads store nothing.
// CHECK-LABEL: llvm.func @padding
// CHECK: %[[LIMIT:.*]] = llvm.mlir.constant(24 : i32)
// CHECK: %[[INSIDE:.*]] = llvm.icmp "slt" %{{.*}}, %[[LIMIT]]
// CHECK: llvm.cond_br %[[INSIDE]]
// CHECK: llvm.store
func.func @padding(%v: f32, %out: memref<24xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.splat %v : f32 -> tensor<24xf32, #line>
  tile.store %t, %out : tensor<24xf32, #line>, memref<24xf32>
  return
}

// -----

#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
// CHECK-LABEL: llvm.func @whole
// CHECK-NOT: llvm.icmp
func.func @whole(%v: f32, %out: memref<32xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.splat %v : f32 -> tensor<32xf32, #line>
  tile.store %t, %out : tensor<32xf32, #line>, memref<32xf32>
  return
}

// -----

#line = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>
// An extent that only the running kernel knows.
// CHECK-LABEL: llvm.func @known_later
// CHECK: llvm.icmp "slt" %{{.*}}, %{{.*}} : i64
// CHECK: llvm.cond_br
func.func @known_later(%v: f32, %n: index {check.range = array<f64: 5.0, 20.0>}, %out: memref<100xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %part = memref.subview %out[0] [%n] [1] : memref<100xf32> to memref<?xf32, strided<[1]>>
  %t = tile.splat %v : f32 -> tensor<32xf32, #line>
  tile.store %t, %part : tensor<32xf32, #line>, memref<?xf32, strided<[1]>>
  return
}
