// RUN: drawloom-opt %s --cpu-share-repeats="min-operations=5 min-repeats=3 min-shared=4" | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each part takes what the one before it has computed, as a value.
// CHECK: func.func private @kernel_shared0({{.*}}vector<16xf32>{{.*}}) -> vector<16xf32>
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[FIRST:[^:]*]]: vector<16xf32>,
// CHECK: %[[A:.*]] = call @kernel_shared0({{.*}}%[[FIRST]]{{.*}})
// CHECK: %[[B:.*]] = call @kernel_shared0({{.*}}%[[A]]{{.*}})
// CHECK: %[[C:.*]] = call @kernel_shared0({{.*}}%[[B]]{{.*}})
// CHECK: vector.transfer_write %[[C]]
func.func @kernel(%x: memref<3x16xf32> {llvm.noalias}, %y: memref<16xf32> {llvm.noalias}, %first: vector<16xf32>, %i0: index, %i1: index, %i2: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a0 = vector.transfer_read %x[%i0, %c0], %zero {in_bounds = [true]} : memref<3x16xf32>, vector<16xf32>
  %b0 = math.tanh %a0 : vector<16xf32>
  %n0 = arith.addf %b0, %first : vector<16xf32>
  vector.transfer_write %n0, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  %a1 = vector.transfer_read %x[%i1, %c0], %zero {in_bounds = [true]} : memref<3x16xf32>, vector<16xf32>
  %b1 = math.tanh %a1 : vector<16xf32>
  %n1 = arith.addf %b1, %n0 : vector<16xf32>
  vector.transfer_write %n1, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  %a2 = vector.transfer_read %x[%i2, %c0], %zero {in_bounds = [true]} : memref<3x16xf32>, vector<16xf32>
  %b2 = math.tanh %a2 : vector<16xf32>
  %n2 = arith.addf %b2, %n1 : vector<16xf32>
  vector.transfer_write %n2, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  vector.transfer_write %n2, %x[%c0, %c0] {in_bounds = [true]} : vector<16xf32>, memref<3x16xf32>
  return
}

// Addresses that are taken from a part's vectors are in the way.
// CHECK-LABEL: func.func @addresses(
// CHECK-NOT: call
// CHECK: return
func.func @addresses(%x: memref<16xi64> {llvm.noalias}, %y: memref<16xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %z = arith.constant 0.0 : f32
  %a0 = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<16xi64>, vector<16xi64>
  %b0 = arith.addi %a0, %a0 : vector<16xi64>
  %e0 = vector.extract %b0[0] : i64 from vector<16xi64>
  %i0 = arith.index_cast %e0 : i64 to index
  %v0 = vector.transfer_read %y[%i0], %z : memref<16xf32>, vector<16xf32>
  %w0 = arith.addf %v0, %v0 : vector<16xf32>
  vector.transfer_write %w0, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  %a1 = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<16xi64>, vector<16xi64>
  %b1 = arith.addi %a1, %a1 : vector<16xi64>
  %e1 = vector.extract %b1[0] : i64 from vector<16xi64>
  %i1 = arith.index_cast %e1 : i64 to index
  %v1 = vector.transfer_read %y[%i1], %z : memref<16xf32>, vector<16xf32>
  %w1 = arith.addf %v1, %v1 : vector<16xf32>
  vector.transfer_write %w1, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  %a2 = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<16xi64>, vector<16xi64>
  %b2 = arith.addi %a2, %a2 : vector<16xi64>
  %e2 = vector.extract %b2[0] : i64 from vector<16xi64>
  %i2 = arith.index_cast %e2 : i64 to index
  %v2 = vector.transfer_read %y[%i2], %z : memref<16xf32>, vector<16xf32>
  %w2 = arith.addf %v2, %v2 : vector<16xf32>
  vector.transfer_write %w2, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}

// Of two values of a part, not every copy has the same one used behind it.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: call
// CHECK: return
func.func @others(%x: memref<3x16xf32> {llvm.noalias}, %y: memref<16xf32> {llvm.noalias}, %z: memref<3x16xf32> {llvm.noalias}, %i0: index, %i1: index, %i2: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %a0 = vector.transfer_read %x[%i0, %c0], %zero {in_bounds = [true]} : memref<3x16xf32>, vector<16xf32>
  %b0 = math.tanh %a0 : vector<16xf32>
  %n0 = math.exp %b0 : vector<16xf32>
  vector.transfer_write %n0, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  %a1 = vector.transfer_read %x[%i1, %c0], %zero {in_bounds = [true]} : memref<3x16xf32>, vector<16xf32>
  %b1 = math.tanh %a1 : vector<16xf32>
  %n1 = math.exp %b1 : vector<16xf32>
  vector.transfer_write %n1, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  %a2 = vector.transfer_read %x[%i2, %c0], %zero {in_bounds = [true]} : memref<3x16xf32>, vector<16xf32>
  %b2 = math.tanh %a2 : vector<16xf32>
  %n2 = math.exp %b2 : vector<16xf32>
  vector.transfer_write %n2, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  vector.transfer_write %b0, %z[%c0, %c0] {in_bounds = [true]} : vector<16xf32>, memref<3x16xf32>
  vector.transfer_write %n1, %z[%c1, %c0] {in_bounds = [true]} : vector<16xf32>, memref<3x16xf32>
  vector.transfer_write %a2, %z[%c2, %c0] {in_bounds = [true]} : vector<16xf32>, memref<3x16xf32>
  return
}
