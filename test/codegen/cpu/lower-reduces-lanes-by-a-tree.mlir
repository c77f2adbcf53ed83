// RUN: drawloom-opt %s --cpu-lower-to-llvm=isa=avx2 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: llvm.func @sum(
// CHECK-NOT: llvm.fadd
// CHECK: "llvm.intr.vector.reduce.fadd"(%{{.*}}, %{{.*}}) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<32xf32>) -> f32
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
func.func @sum(%v: vector<32xf32>, %start: f32) -> f32 {
  %s = vector.multi_reduction <add>, %v, %start [0] : vector<32xf32> to f32
  return %s : f32
}

// Shorter numbers are added up as f32 and rounded each time.
// CHECK-LABEL: llvm.func @short(
// CHECK-NOT: vector.reduce
// CHECK-COUNT-8: llvm.fadd {{.*}} : vector<1xf32>
func.func @short(%v: vector<8xf16>, %start: f16) -> f16 {
  %s = vector.multi_reduction <add>, %v, %start [0] : vector<8xf16> to f16
  return %s : f16
}
