// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --split-input-file --nvptx-lower --verify-semantics | FileCheck %s

// Row 13 is the sixth of the second run of eight: of the lanes with the same columns, which the lower three bits tell apart, the one whose
// upper bits are 01 holds it, in the sixth row of its registers: 5 * 16 * 4 = 320 bytes behind its first.
// CHECK-LABEL: llvm.func @thirteen
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG: %[[COLUMNS:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i32)
// CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[SAME:.*]] = llvm.and %[[LANE]], %[[COLUMNS]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr inbounds %{{.*}}[320]
// CHECK: %[[PAIR:.*]] = llvm.load %[[PLACE]] {{.*}} -> vector<2xf32>
// CHECK: %[[LEFT:.*]] = llvm.extractelement %[[PAIR]][%[[ZERO]] : i32]
// CHECK: %[[RIGHT:.*]] = llvm.extractelement %[[PAIR]][%[[ONE]] : i32]
// CHECK: %[[HOLDER:.*]] = llvm.or %[[SAME]], %[[EIGHT]]
// CHECK: %[[FIRST:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[LEFT]], %[[HOLDER]]
// CHECK: %[[SECOND:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[RIGHT]], %[[HOLDER]]
// CHECK-NOT: nvvm.shfl.sync
// CHECK: %[[ROW:.*]] = llvm.insertelement %[[FIRST]], %{{.*}}[%[[ZERO]] : i32]
// CHECK: llvm.insertelement %[[SECOND]], %[[ROW]][%[[ONE]] : i32]
#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#row = #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, ?, ?], warps = []>
func.func @thirteen(%x: memref<32x16xf32>, %out: memref<16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %r = tile.slice %t at 13 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  tile.store %r, %out : tensor<16xf32, #row>, memref<16xf32>
  return
}

// -----

// Row 22 is the seventh of the third run: upper bits 10, 6 * 16 * 4 bytes.
// CHECK-LABEL: llvm.func @twenty_two
// CHECK-DAG: %[[COLUMNS:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i32)
// CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[SAME:.*]] = llvm.and %[[LANE]], %[[COLUMNS]]
// CHECK: llvm.getelementptr inbounds %{{.*}}[384]
// CHECK: %[[HOLDER:.*]] = llvm.or %[[SAME]], %[[SIXTEEN]]
// CHECK-COUNT-2: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %[[HOLDER]]
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
#rows = #tile.layout<registers = [1:1, 0:1*8], lanes = [1:2, 1:4, 1:8, 0:8, 0:16], warps = []>
#row = #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, ?, ?], warps = []>
func.func @twenty_two(%x: memref<32x16xf32>, %out: memref<16xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %t = tile.load %x : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %r = tile.slice %t at 22 along 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #row>
  tile.store %r, %out : tensor<16xf32, #row>, memref<16xf32>
  return
}
