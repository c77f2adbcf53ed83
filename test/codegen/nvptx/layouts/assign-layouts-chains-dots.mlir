// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --verify-semantics | FileCheck %s

// The result of the first product is the left operand of the second as it is: registers are renamed, and only the right operands
// go through shared memory.
// CHECK-LABEL: @f
// CHECK: %[[FIRST:.*]] = tile.dot %{{.*}}, %{{.*}}, %{{.*}} : memref<{{.*}}>, memref<
// CHECK: %[[NARROW:.*]] = arith.truncf %[[FIRST]]
// CHECK-NOT: tile.store %[[NARROW]]
// CHECK: tile.dot %[[NARROW]], %{{.*}}, %{{.*}} : tensor<64x64xbf16, {{.*}}, memref<
func.func @f(%a: memref<64x32xbf16>, %b: memref<32x64xbf16>, %c: memref<64x64xbf16>, %out: memref<64x64xf32>)
    attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 3 : i64} {
  %zero = arith.constant 0.0 : f32
  %start = tile.splat %zero : f32 -> tensor<64x64xf32>
  %at = tile.load %a : memref<64x32xbf16> -> tensor<64x32xbf16>
  %bt = tile.load %b : memref<32x64xbf16> -> tensor<32x64xbf16>
  %ct = tile.load %c : memref<64x64xbf16> -> tensor<64x64xbf16>
  %first = tile.dot %at, %bt, %start : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  %narrow = arith.truncf %first : tensor<64x64xf32> to tensor<64x64xbf16>
  %second = tile.dot %narrow, %ct, %start : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %second, %out : tensor<64x64xf32>, memref<64x64xf32>
  return
}
