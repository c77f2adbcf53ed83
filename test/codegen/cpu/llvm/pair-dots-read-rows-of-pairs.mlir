// RUN: drawloom-opt %s --cpu-lower-pair-dots=isa=avx512bf16 --split-input-file | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#mk = affine_map<(m, n, k, p) -> (m, k, p)>
#kn = affine_map<(m, n, k, p) -> (k, n, p)>
#mn = affine_map<(m, n, k, p) -> (m, n)>

// The pairs of a row of the right matrix lie side by side: they are read as one
// vector, where the memory is read, and not pair by pair. The left matrix's
// pairs go into all lanes, each from memory.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG: vector.transfer_read %arg0[{{.*}} vector<8x4x2xbf16>
// CHECK-DAG: %[[AT:.*]] = arith.muli %arg3, %c2
// CHECK-DAG: %[[ROWS:.*]] = memref.collapse_shape %arg1 {{.*}}[0], [1, 2]]
// CHECK: vector.transfer_read %[[ROWS]][%arg2, %[[AT]]], {{.*}} {in_bounds = [true, true]} : memref<64x256xbf16>, vector<4x64xbf16>
// CHECK: vector.transfer_write {{.*}} %arg1
// CHECK: x86vector.avx512.dot
func.func @rows(%a: memref<16x64x2xbf16>, %b: memref<64x128x2xbf16>, %k: index, %n: index, %sum: vector<8x32xf32>) -> vector<8x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : vector<4x32x2xbf16>
  %x = vector.transfer_read %a[%c0, %k, %c0], %zero {in_bounds = [true, true, true]} : memref<16x64x2xbf16>, vector<8x4x2xbf16>
  %y = vector.transfer_read %b[%k, %n, %c0], %zero {in_bounds = [true, true, true]} : memref<64x128x2xbf16>, vector<4x32x2xbf16>
  vector.transfer_write %none, %b[%k, %n, %c0] {in_bounds = [true, true, true]} : vector<4x32x2xbf16>, memref<64x128x2xbf16>
  %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %x, %y, %sum : vector<8x4x2xbf16>, vector<4x32x2xbf16> into vector<8x32xf32>
  return %d : vector<8x32xf32>
}

// -----

#mk = affine_map<(m, n, k, p) -> (m, k, p)>
#kn = affine_map<(m, n, k, p) -> (k, n, p)>
#mn = affine_map<(m, n, k, p) -> (m, n)>

// Pairs with gaps between them are read one by one.
// CHECK-LABEL: func.func @gaps(
// CHECK-NOT: collapse_shape
// CHECK: vector.transfer_read %arg1[{{.*}} vector<4x32x2xbf16>
func.func @gaps(%a: memref<16x64x2xbf16>, %b: memref<64x128x2xbf16, strided<[512, 4, 1]>>, %k: index, %n: index, %sum: vector<8x32xf32>) -> vector<8x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %x = vector.transfer_read %a[%c0, %k, %c0], %zero {in_bounds = [true, true, true]} : memref<16x64x2xbf16>, vector<8x4x2xbf16>
  %y = vector.transfer_read %b[%k, %n, %c0], %zero {in_bounds = [true, true, true]} : memref<64x128x2xbf16, strided<[512, 4, 1]>>, vector<4x32x2xbf16>
  %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %x, %y, %sum : vector<8x4x2xbf16>, vector<4x32x2xbf16> into vector<8x32xf32>
  return %d : vector<8x32xf32>
}
