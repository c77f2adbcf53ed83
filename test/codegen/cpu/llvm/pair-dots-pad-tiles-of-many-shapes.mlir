// RUN: drawloom-opt %s --cpu-lower-pair-dots=isa=amx | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#mk = affine_map<(m, n, k, p) -> (m, k, p)>
#kn = affine_map<(m, n, k, p) -> (k, n, p)>
#mn = affine_map<(m, n, k, p) -> (m, n)>

// A register has one shape in all of a function. Two tiles of sums and three of factors of the first product, four and
// four of the second, have five shapes, for which eight registers do not do: all tiles are whole, 16 rows of 64 bytes.
// CHECK-LABEL: func.func @many(
// CHECK: %[[EIGHT_ROWS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x32xbf16>
// CHECK: vector.transfer_write %{{.*}}, %[[EIGHT_ROWS]]{{.*}} : vector<16x32xbf16>
// CHECK-NOT: llvm.mlir.constant({{4|8}} : i16)
// CHECK: %[[ROWS:.*]] = vector.shape_cast %arg0 : vector<8x16x2xbf16> to vector<8x32xbf16>
// CHECK: vector.transfer_write %[[ROWS]], %[[EIGHT_ROWS]]
// CHECK-NOT: llvm.mlir.constant({{4|8}} : i16)
// CHECK-COUNT-2: tdpbf16ps
// CHECK: vector.transfer_read {{.*}} : memref<16x32xf32>, vector<8x32xf32>
// CHECK-NOT: llvm.mlir.constant({{4|8}} : i16)
// CHECK-COUNT-4: tdpbf16ps
func.func @many(%a: vector<8x16x2xbf16>, %b: vector<16x32x2xbf16>, %c: vector<8x32xf32>,
    %d: vector<32x4x2xbf16>, %e: vector<4x32x2xbf16>, %f: vector<32x32xf32>) -> (vector<8x32xf32>, vector<32x32xf32>) {
  %first = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %a, %b, %c : vector<8x16x2xbf16>, vector<16x32x2xbf16> into vector<8x32xf32>
  %second = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %d, %e, %f : vector<32x4x2xbf16>, vector<4x32x2xbf16> into vector<32x32xf32>
  return %first, %second : vector<8x32xf32>, vector<32x32xf32>
}

// One of them alone has the shapes that it has.
// CHECK-LABEL: func.func @few(
// CHECK: llvm.mlir.constant(8 : i16)
// CHECK-COUNT-2: tdpbf16ps
func.func @few(%a: vector<8x16x2xbf16>, %b: vector<16x32x2xbf16>, %c: vector<8x32xf32>) -> vector<8x32xf32> {
  %first = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %a, %b, %c : vector<8x16x2xbf16>, vector<16x32x2xbf16> into vector<8x32xf32>
  return %first : vector<8x32xf32>
}

// Sums that a loop carries stay in registers, unless those of two products do not fit beside each other and the tiles of a factor.
// CHECK-LABEL: func.func @one_sum(
// CHECK: scf.for {{.*}} -> (vector<32x32xf32>, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx)
func.func @one_sum(%a: vector<32x16x2xbf16>, %b: vector<16x32x2xbf16>, %c: vector<32x32xf32>, %n: index) -> vector<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%before = %c) -> (vector<32x32xf32>) {
    %after = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %a, %b, %before : vector<32x16x2xbf16>, vector<16x32x2xbf16> into vector<32x32xf32>
    scf.yield %after : vector<32x32xf32>
  }
  return %sum : vector<32x32xf32>
}

// CHECK-LABEL: func.func @two_sums(
// CHECK: scf.for {{.*}} -> (vector<32x32xf32>, vector<32x32xf32>)
// CHECK-COUNT-4: tilestored64
func.func @two_sums(%a: vector<32x16x2xbf16>, %b: vector<16x32x2xbf16>, %c: vector<32x32xf32>, %n: index) -> (vector<32x32xf32>, vector<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c, %second = %c) -> (vector<32x32xf32>, vector<32x32xf32>) {
    %one = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %a, %b, %first : vector<32x16x2xbf16>, vector<16x32x2xbf16> into vector<32x32xf32>
    %two = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %a, %b, %second : vector<32x16x2xbf16>, vector<16x32x2xbf16> into vector<32x32xf32>
    scf.yield %one, %two : vector<32x32xf32>, vector<32x32xf32>
  }
  return %sums#0, %sums#1 : vector<32x32xf32>, vector<32x32xf32>
}
