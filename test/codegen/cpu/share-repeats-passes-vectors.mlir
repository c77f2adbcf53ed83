// RUN: drawloom-opt %s --cpu-share-repeats="min-operations=10 min-repeats=3 min-shared=4" | FileCheck %s

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
