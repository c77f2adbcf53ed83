// RUN: drawloom-opt %s --cpu-lower-to-llvm=isa=avx2 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where lanes are rows, a program for any number of rows has tiles of other
// sizes than one for a known number, and the same bits: lane after lane.
// CHECK-LABEL: llvm.func @sum(
// CHECK-NOT: vector.reduce
// CHECK: %[[FIRST:.*]] = llvm.fadd
// CHECK: %[[SECOND:.*]] = llvm.fadd %{{.*}}, %[[FIRST]]
// CHECK: %[[THIRD:.*]] = llvm.fadd %{{.*}}, %[[SECOND]]
// CHECK: llvm.fadd %{{.*}}, %[[THIRD]]
func.func @sum(%v: vector<4xf32>, %start: f32) -> f32 {
  %s = vector.multi_reduction <add>, %v, %start [0] : vector<4xf32> to f32
  return %s : f32
}
