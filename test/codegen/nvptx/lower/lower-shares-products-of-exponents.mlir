// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --split-input-file --nvptx-lower --verify-semantics --verify-semantics-rtol=4.3e-5 | FileCheck %s

// The tolerance is that of the last function: there c and b are up to 149 and 55, each off by two roundings (2^-24 of itself), and
// their difference, its product with log2 e and the power, up to 95, by one more each, which moves the result by as much: 4.2e-5.

// Exponentials of differences from one number share its product with log2 e: a fused multiply-add each.
// CHECK-LABEL: llvm.func @all_may
// CHECK: %[[SHARED:.*]] = llvm.fmul
// CHECK: %[[POWER:.*]] = llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[POWER]])
// CHECK-COUNT-3: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK-NOT: llvm.fsub
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @all_may(%x: memref<128xf32>, %y: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %d = arith.subf %t, %same fastmath<reassoc> : tensor<128xf32, #line>
  %e = math.exp %d fastmath<reassoc,afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// The product is rounded, so large numbers would lose all digits: an approximate exponential alone does not allow it,
// CHECK-LABEL: llvm.func @only_approximate
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-4: llvm.fsub
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @only_approximate(%x: memref<128xf32>, %y: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %d = arith.subf %t, %same : tensor<128xf32, #line>
  %e = math.exp %d fastmath<afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// nor does one whose difference does not.
// CHECK-LABEL: llvm.func @differences_may_not
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-4: llvm.fsub
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @differences_may_not(%x: memref<128xf32>, %y: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %d = arith.subf %t, %same : tensor<128xf32, #line>
  %e = math.exp %d fastmath<reassoc,afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// or the other way round.
// CHECK-LABEL: llvm.func @exponentials_may_not
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-4: llvm.fsub
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @exponentials_may_not(%x: memref<128xf32>, %y: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %d = arith.subf %t, %same fastmath<reassoc> : tensor<128xf32, #line>
  %e = math.exp %d fastmath<afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// What the sums share goes into the product: no sum is left.
// CHECK-LABEL: llvm.func @of_sums
// CHECK: %[[APART:.*]] = llvm.fsub
// CHECK: %[[SHARED:.*]] = llvm.fmul %[[APART]]
// CHECK-COUNT-4: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @of_sums(%x: memref<128xf32>, %y: f32, %z: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %start = tile.splat %z : f32 -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %s = arith.addf %t, %start fastmath<reassoc> : tensor<128xf32, #line>
  %d = arith.subf %s, %same fastmath<reassoc> : tensor<128xf32, #line>
  %e = math.exp %d fastmath<reassoc,afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// Sums in an order that has to stay are made first.
// CHECK-LABEL: llvm.func @sums_may_not
// CHECK-COUNT-4: llvm.fadd
// CHECK: %[[SHARED:.*]] = llvm.fmul
// CHECK-COUNT-4: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @sums_may_not(%x: memref<128xf32>, %y: f32, %z: f32, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %start = tile.splat %z : f32 -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %s = arith.addf %t, %start : tensor<128xf32, #line>
  %d = arith.subf %s, %same fastmath<reassoc> : tensor<128xf32, #line>
  %e = math.exp %d fastmath<reassoc,afn> : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}

// -----

// What is shared may be such exponentials themselves.
// CHECK-LABEL: llvm.func @of_exponentials
// CHECK: %[[B:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: %[[C:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: %[[APART:.*]] = llvm.fsub %[[C]], %[[B]]
// CHECK: %[[SHARED:.*]] = llvm.fmul %[[APART]]
// CHECK-COUNT-4: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SHARED]])
// CHECK: llvm.return
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @of_exponentials(%x: memref<128xf32> {check.range = array<f64: -1.0, 1.0>}, %y: f32 {check.range = array<f64: -1.0, 1.0>}, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %same = tile.splat %y : f32 -> tensor<128xf32, #line>
  %c0 = arith.constant 3.0 : f32
  %d0 = arith.subf %c0, %y fastmath<reassoc> : f32
  %e0 = math.exp %d0 fastmath<reassoc,afn> : f32
  %c1 = arith.constant 4.0 : f32
  %d1 = arith.subf %c1, %y fastmath<reassoc> : f32
  %e1 = math.exp %d1 fastmath<reassoc,afn> : f32
  %c2 = arith.constant 5.0 : f32
  %d2 = arith.subf %c2, %y fastmath<reassoc> : f32
  %e2 = math.exp %d2 fastmath<reassoc,afn> : f32
  %b = tile.splat %e0 : f32 -> tensor<128xf32, #line>
  %c = tile.splat %e1 : f32 -> tensor<128xf32, #line>
  %s = arith.addf %t, %c fastmath<reassoc> : tensor<128xf32, #line>
  %d = arith.subf %s, %b fastmath<reassoc> : tensor<128xf32, #line>
  %p = math.exp %d fastmath<reassoc,afn> : tensor<128xf32, #line>
  %last = tile.splat %e2 : f32 -> tensor<128xf32, #line>
  %e = arith.addf %p, %last : tensor<128xf32, #line>
  tile.store %e, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}
