// RUN: drawloom-opt %s --cpu-kernels --canonicalize --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both buffers are still read after one of them has been chosen, under another
// name: the third has memory of its own, 3 x 4 KB in all.
// CHECK-LABEL: func.func @f
// CHECK-SAME: memref<12288xi8>
// CHECK-SAME: workspace_bytes = 12288
func.func @f(%choice: i1, %out: memref<1024xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<1024xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  %c = memref.alloc() : memref<1024xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  memref.store %one, %a[%c0] : memref<1024xf32>
  memref.store %two, %b[%c0] : memref<1024xf32>
  %chosen = arith.select %choice, %a, %b : memref<1024xf32>
  %other = arith.select %choice, %b, %a : memref<1024xf32>
  memref.store %three, %c[%c0] : memref<1024xf32>
  %x = memref.load %chosen[%c0] : memref<1024xf32>
  %y = memref.load %other[%c0] : memref<1024xf32>
  %z = memref.load %c[%c0] : memref<1024xf32>
  memref.store %x, %out[%c0] : memref<1024xf32>
  memref.store %y, %out[%c1] : memref<1024xf32>
  memref.store %z, %out[%c2] : memref<1024xf32>
  return
}
