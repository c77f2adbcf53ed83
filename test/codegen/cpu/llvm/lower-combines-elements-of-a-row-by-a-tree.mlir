// RUN: drawloom-opt %s --cpu-lower-to-llvm=isa=avx2 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: llvm.func @row(
// CHECK: llvm.intr.vector.reduce.fadd{{.*}}reassoc{{.*}}vector<8xf32>
func.func @row(%v: vector<8xf32>, %start: f32) -> f32 {
  %s = vector.multi_reduction <add>, %v, %start {block.within_rows} [0] : vector<8xf32> to f32
  return %s : f32
}

// CHECK-LABEL: llvm.func @rows(
// CHECK-COUNT-2: llvm.intr.vector.reduce.fmaximum
// CHECK-NOT: llvm.intr.vector.reduce
func.func @rows(%x: memref<2x8xf32>, %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : memref<2x8xf32>, vector<2x8xf32>
  %start = vector.transfer_read %y[%c0], %zero {in_bounds = [true]} : memref<2xf32>, vector<2xf32>
  %s = vector.multi_reduction <maximumf>, %v, %start {block.within_rows} [1] : vector<2x8xf32> to vector<2xf32>
  vector.transfer_write %s, %y[%c0] {in_bounds = [true]} : vector<2xf32>, memref<2xf32>
  return
}

// Halves are computed as f32, which is not done within reductions.
// CHECK-LABEL: llvm.func @halves(
// CHECK-NOT: llvm.intr.vector.reduce
func.func @halves(%v: vector<8xbf16>, %start: bf16) -> bf16 {
  %s = vector.multi_reduction <add>, %v, %start {block.within_rows} [0] : vector<8xbf16> to bf16
  return %s : bf16
}
