// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-apply-schedule --nvptx-allocate-shared --nvptx-lower --remarks-filter=nvptx-lower-tiles --verify-semantics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// What comes out of memory and goes back there is a loop over registers, which loads four vectors at a time; so it stays short.
// REMARK: [Passed] Rolled{{.*}}ops=3, registers=512, turns=32
// CHECK-LABEL: @rolled
// CHECK: llvm.cond_br
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.return
func.func @rolled(%x: memref<1024x64xf32>, %out: memref<1024x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %a = tile.load %x : memref<1024x64xf32> -> tensor<1024x64xf32>
  %b = arith.addf %a, %a : tensor<1024x64xf32>
  tile.store %b, %out : tensor<1024x64xf32>, memref<1024x64xf32>
  return
}

// What stays in registers has no addresses.
// REMARK: [Missed] Unrolled{{.*}}the result of 'arith.addf' is kept in registers
// CHECK-LABEL: @kept
func.func @kept(%x: memref<512x64xf32>, %y: memref<512x64xf32>, %out: memref<512x64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %a = tile.load %x : memref<512x64xf32> -> tensor<512x64xf32>
  %b = arith.addf %a, %a : tensor<512x64xf32>
  %c = arith.mulf %b, %b : tensor<512x64xf32>
  tile.store %c, %out : tensor<512x64xf32>, memref<512x64xf32>
  tile.barrier
  tile.store %b, %out : tensor<512x64xf32>, memref<512x64xf32>
  return
}

// Sums of what memory holds are short already, yet would be loaded whole before they are added up; their barrier waits in front.
// REMARK: [Passed] Rolled{{.*}}ops=2, registers=160, turns=8
// CHECK-LABEL: @sums
// CHECK: llvm.cond_br
// CHECK-COUNT-5: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load {{.*}} -> vector<4xf32>
// CHECK: nvvm.shfl.sync
func.func @sums(%x: memref<320x64xf32>, %out: memref<64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64} {
  %a = tile.load %x : memref<320x64xf32> -> tensor<320x64xf32>
  %b = tile.reduce add %a along [0] : tensor<320x64xf32> -> tensor<64xf32>
  tile.store %b, %out : tensor<64xf32>, memref<64xf32>
  return
}
