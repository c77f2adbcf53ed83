// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-relayout-reductions --nvptx-assign-layouts --nvptx-stage-operands --nvptx-defer-reductions --nvptx-expand-conversions --verify-semantics | FileCheck %s

// Six sums of every column, in sixteen registers each as the product leaves its results: they get a layout in which a
// thread has two columns (with four warps), reached through shared memory in 16 bits.

// CHECK: tile.dot
// CHECK: %[[NARROW:.*]] = arith.truncf
// CHECK: tile.store %[[NARROW]], %[[BUFFER:.*]] :
// CHECK: tile.load %[[BUFFER]] : {{.*}} -> tensor<64x64xbf16, #tile.layout<registers = [1:32, 0:4*16], lanes = [1:1, 1:2, 1:4, 0:1, 0:2], warps = [1:8, 1:16]>>
// CHECK-COUNT-6: tile.reduce add within_thread
func.func @f(%x: memref<1024x64xbf16>, %w: memref<64x64xbf16>, %y: memref<1024x64xf32>, %s0: memref<64xf32>, %s1: memref<64xf32>, %s2: memref<64xf32>, %s3: memref<64xf32>, %s4: memref<64xf32>, %s5: memref<64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %sums = tile.splat %zero : f32 -> tensor<64x64xf32>
  %zeros = tile.splat %zero : f32 -> tensor<64xf32>
  %r:6 = scf.for %i = %c0 to %end step %step iter_args(%a0 = %zeros, %a1 = %zeros, %a2 = %zeros, %a3 = %zeros, %a4 = %zeros, %a5 = %zeros) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %xv = memref.subview %x[%i, 0] [64, 64] [1, 1] : memref<1024x64xbf16> to memref<64x64xbf16, strided<[64, 1], offset: ?>>
    %xt = tile.load %xv : memref<64x64xbf16, strided<[64, 1], offset: ?>> -> tensor<64x64xbf16>
    %wt = tile.load %w : memref<64x64xbf16> -> tensor<64x64xbf16>
    %z = tile.dot %xt, %wt, %sums : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %z16 = arith.truncf %z : tensor<64x64xf32> to tensor<64x64xbf16>
    %p0 = arith.extf %z16 : tensor<64x64xbf16> to tensor<64x64xf32>
    %t0 = tile.reduce add %p0 along [0] : tensor<64x64xf32> -> tensor<64xf32>
    %n0 = arith.addf %a0, %t0 : tensor<64xf32>
    %p1 = arith.mulf %p0, %p0 : tensor<64x64xf32>
    %t1 = tile.reduce add %p1 along [0] : tensor<64x64xf32> -> tensor<64xf32>
    %n1 = arith.addf %a1, %t1 : tensor<64xf32>
    %p2 = arith.mulf %p1, %p0 : tensor<64x64xf32>
    %t2 = tile.reduce add %p2 along [0] : tensor<64x64xf32> -> tensor<64xf32>
    %n2 = arith.addf %a2, %t2 : tensor<64xf32>
    %p3 = arith.mulf %p2, %p0 : tensor<64x64xf32>
    %t3 = tile.reduce add %p3 along [0] : tensor<64x64xf32> -> tensor<64xf32>
    %n3 = arith.addf %a3, %t3 : tensor<64xf32>
    %p4 = arith.mulf %p3, %p0 : tensor<64x64xf32>
    %t4 = tile.reduce add %p4 along [0] : tensor<64x64xf32> -> tensor<64xf32>
    %n4 = arith.addf %a4, %t4 : tensor<64xf32>
    %p5 = arith.mulf %p4, %p0 : tensor<64x64xf32>
    %t5 = tile.reduce add %p5 along [0] : tensor<64x64xf32> -> tensor<64xf32>
    %n5 = arith.addf %a5, %t5 : tensor<64xf32>
    scf.yield %n0, %n1, %n2, %n3, %n4, %n5 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  tile.store %r#0, %s0 : tensor<64xf32>, memref<64xf32>
  tile.store %r#1, %s1 : tensor<64xf32>, memref<64xf32>
  tile.store %r#2, %s2 : tensor<64xf32>, memref<64xf32>
  tile.store %r#3, %s3 : tensor<64xf32>, memref<64xf32>
  tile.store %r#4, %s4 : tensor<64xf32>, memref<64xf32>
  tile.store %r#5, %s5 : tensor<64xf32>, memref<64xf32>
  return
}
