// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

// CHECK-LABEL: llvm.func @narrow
// CHECK: ^bb1(%[[I:[0-9]+]]: i32)
// CHECK: llvm.icmp "slt" %[[I]], %{{.*}} : i32
func.func @narrow(%x: memref<64xf32>, %a: i32, %b: i32, %out: memref<f32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 4 : i64} {
  %one = arith.constant 1 : index
  %from = arith.index_cast %a : i32 to index
  %to = arith.index_cast %b : i32 to index
  scf.for %i = %from to %to step %one {
    %v = arith.index_cast %i : index to i32
    %f = arith.sitofp %v : i32 to f32
    %t = tile.splat %f : f32 -> tensor<f32, #tile.layout<registers = [], lanes = [?, ?, ?, ?, ?], warps = [?, ?]>>
    tile.store %t, %out : tensor<f32, #tile.layout<registers = [], lanes = [?, ?, ?, ?, ?], warps = [?, ?]>>, memref<f32>
  }
  return
}

// A step of 2 could leave 32 bits behind the last one.
// CHECK-LABEL: llvm.func @steps
// CHECK: ^bb1(%[[I:[0-9]+]]: i64)
// CHECK: llvm.icmp "slt" %[[I]], %{{.*}} : i64
func.func @steps(%x: memref<64xf32>, %a: i32, %b: i32, %out: memref<f32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 4 : i64} {
  %two = arith.constant 2 : index
  %from = arith.index_cast %a : i32 to index
  %to = arith.index_cast %b : i32 to index
  scf.for %i = %from to %to step %two {
    %v = arith.index_cast %i : index to i32
    %f = arith.sitofp %v : i32 to f32
    %t = tile.splat %f : f32 -> tensor<f32, #tile.layout<registers = [], lanes = [?, ?, ?, ?, ?], warps = [?, ?]>>
    tile.store %t, %out : tensor<f32, #tile.layout<registers = [], lanes = [?, ?, ?, ?, ?], warps = [?, ?]>>, memref<f32>
  }
  return
}
