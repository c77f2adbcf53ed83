// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#t = #tile.layout<registers = [1:1*2], lanes = [1:2, 1:4, 1:8, 0:1, 0:2], warps = [0:4, 0:8]>

// Two numbers are chosen by three instructions on integers: no comparison.
// CHECK-LABEL: llvm.func @f
// CHECK-NOT: llvm.fcmp
// CHECK: llvm.mlir.constant(2147450879 : i32)
// CHECK: llvm.call_intrinsic "llvm.nvvm.prmt"
// CHECK-NOT: llvm.select
// CHECK: llvm.return
func.func @f(%h: memref<16x16xbf16> {check.range = array<f64: 0.0, 2.0>}, %g: memref<16x16xbf16>, %y: memref<16x16xbf16>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.warps = 4 : i64, drawloom.shared_bytes = 0 : i64} {
  %0 = tile.load %h {drawloom.nonnegative} : memref<16x16xbf16> -> tensor<16x16xbf16, #t>
  %1 = tile.load %g : memref<16x16xbf16> -> tensor<16x16xbf16, #t>
  %zero = arith.constant 0.0 : bf16
  %zeros = tile.splat %zero : bf16 -> tensor<16x16xbf16, #t>
  %mask = arith.cmpf une, %0, %zeros : tensor<16x16xbf16, #t>
  %2 = arith.select %mask, %1, %zeros : tensor<16x16xi1, #t>, tensor<16x16xbf16, #t>
  tile.store %2, %y : tensor<16x16xbf16, #t>, memref<16x16xbf16>
  return
}
