// RUN: drawloom-opt %s --nvptx-lower --verify-semantics | FileCheck %s

#tile = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = []>

// Each of two blocks stores a row.
// CHECK: llvm.func @rows
// CHECK-SAME: nvvm.kernel
func.func @rows(%x: memref<2x32xf32>, %factor: f32, %out: memref<2x32xf32>) attributes {drawloom.kernel, drawloom.grid = 2 : i64, drawloom.inputs = 2 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %block = tile.block_id
  %from = memref.subview %x[%block, 0] [1, 32] [1, 1] : memref<2x32xf32> to memref<32xf32, strided<[1], offset: ?>>
  %to = memref.subview %out[%block, 0] [1, 32] [1, 1] : memref<2x32xf32> to memref<32xf32, strided<[1], offset: ?>>
  %row = tile.load %from : memref<32xf32, strided<[1], offset: ?>> -> tensor<32xf32, #tile>
  %factors = tile.splat %factor : f32 -> tensor<32xf32, #tile>
  %scaled = arith.mulf %row, %factors : tensor<32xf32, #tile>
  tile.store %scaled, %to : tensor<32xf32, #tile>, memref<32xf32, strided<[1], offset: ?>>
  return
}
