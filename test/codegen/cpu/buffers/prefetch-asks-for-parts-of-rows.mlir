// RUN: drawloom-opt %s --cpu-prefetch-tiles --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#part = affine_map<(d0)[s0] -> (d0 * 64 + s0)>

// A block goes through a quarter of each row: the next row's is asked for.
// CHECK-LABEL: func.func @parts
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c32
// CHECK: scf.for %[[AT:.*]] = %c0 to %c64
// CHECK: %[[NEXT:.*]] = arith.select
// CHECK: memref.prefetch %{{.*}}[%[[NEXT]], %{{.*}}]
// CHECK: vector.transfer_read
func.func @parts(%x: memref<32x256xf32>, %out: memref<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.forall (%block) in (4) {
    %sum = scf.for %row = %c0 to %c32 step %c1 iter_args(%s = %zero) -> vector<16xf32> {
      %t = scf.for %at = %c0 to %c64 step %c16 iter_args(%u = %s) -> vector<16xf32> {
        %column = affine.apply #part(%block)[%at]
        %v = vector.transfer_read %x[%row, %column], %pad {in_bounds = [true]} : memref<32x256xf32>, vector<16xf32>
        %w = arith.addf %u, %v : vector<16xf32>
        scf.yield %w : vector<16xf32>
      }
      scf.yield %t : vector<16xf32>
    }
    vector.transfer_write %sum, %out[%block, %c0] {in_bounds = [true]} : vector<16xf32>, memref<4x16xf32>
  }
  return
}

// Whole rows lie behind each other, whatever vector is read at a time.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: memref.prefetch
func.func @whole(%x: memref<32x256xf32>, %out: memref<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.forall (%block) in (4) {
    %sum = scf.for %row = %c0 to %c32 step %c1 iter_args(%s = %zero) -> vector<16xf32> {
      %t = scf.for %at = %c0 to %c256 step %c16 iter_args(%u = %s) -> vector<16xf32> {
        %v = vector.transfer_read %x[%row, %at], %pad {in_bounds = [true]} : memref<32x256xf32>, vector<16xf32>
        %w = arith.addf %u, %v : vector<16xf32>
        scf.yield %w : vector<16xf32>
      }
      scf.yield %t : vector<16xf32>
    }
    vector.transfer_write %sum, %out[%block, %c0] {in_bounds = [true]} : vector<16xf32>, memref<4x16xf32>
  }
  return
}
