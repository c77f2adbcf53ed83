// RUN: drawloom-opt %s --cpu-lower-to-llvm=isa=avx2 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#t = affine_map<(d0, d1) -> (d1, d0)>
#rows = affine_map<(d0) -> (d0, 0)>

// Three rounds, in each of which eight vectors are interleaved. No element
// moves by itself.
// CHECK-LABEL: llvm.func @square(
// CHECK-COUNT-8: llvm.load {{.*}} vector<8xf32>
// CHECK-NOT: {{insert|extract}}element
// CHECK-COUNT-24: llvm.shufflevector {{.*}} : vector<8xf32>
// CHECK-NOT: llvm.shufflevector
// CHECK-NOT: {{insert|extract}}element
// CHECK: llvm.return
func.func @square(%a: memref<16x128xf32>, %b: memref<128x16xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i, %j], %zero {in_bounds = [true, true], permutation_map = #t} : memref<16x128xf32>, vector<8x8xf32>
  vector.transfer_write %v, %b[%j, %i] {in_bounds = [true, true]} : vector<8x8xf32>, memref<128x16xf32>
  return
}

// Each row of a column's copies is one number in all lanes.
// CHECK-LABEL: llvm.func @copies(
// CHECK-COUNT-4: llvm.shufflevector {{.*}} [0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
// CHECK-NOT: llvm.shufflevector
// CHECK: llvm.return
func.func @copies(%a: memref<64xf32>, %b: memref<4x8xf32>, %i: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %v = vector.transfer_read %a[%i], %zero {in_bounds = [true, true], permutation_map = #rows} : memref<64xf32>, vector<4x8xf32>
  vector.transfer_write %v, %b[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<4x8xf32>
  return
}

// A vector of one element is repeated along both dimensions.
// CHECK-LABEL: llvm.func @one(
func.func @one(%v: vector<1xf32>, %b: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %m = vector.broadcast %v : vector<1xf32> to vector<4x8xf32>
  %t = vector.transpose %m, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  vector.transfer_write %t, %b[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, memref<8x4xf32>
  return
}

// A matrix that is put together of rows is not taken apart, either: one
// insertion for each number that is repeated.
// CHECK-LABEL: llvm.func @matrix(
// CHECK-COUNT-4: llvm.insertelement
// CHECK-NOT: llvm.insertelement
// CHECK-COUNT-4: llvm.fmul {{.*}} : vector<8xf32>
// CHECK: llvm.return
func.func @matrix(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %s: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %x = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
  %y = vector.transfer_read %s[%c0], %zero {in_bounds = [true, true], permutation_map = #rows} : memref<4xf32>, vector<4x8xf32>
  %z = arith.mulf %x, %y : vector<4x8xf32>
  vector.transfer_write %z, %b[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<4x8xf32>
  return
}
