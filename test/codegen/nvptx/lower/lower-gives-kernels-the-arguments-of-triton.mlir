// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower | FileCheck %s

// Memory as pointers, with the bytes that must overlap nothing else, numbers as numbers, then global and the profiler's scratch memory.
// CHECK: llvm.func @f(%arg0: !llvm.ptr<1> {drawloom.bytes = 32 : i64, llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg1: f32, %arg2: i64, %arg3: i8,
// CHECK-SAME: %arg4: !llvm.ptr<1> {drawloom.bytes = 32 : i64, llvm.align = 16 : i64, llvm.noalias}, %arg5: !llvm.ptr<1>, %arg6: !llvm.ptr<1>)
func.func @f(%x: memref<8xf32>, %v: f32, %n: index, %flag: i1, %out: memref<8xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 4 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  return
}
