// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// No op copies or allocates a whole tile: every step works on slices of the
// destination.
// RUN: drawloom-opt %s --decompose-graph --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize | FileCheck %s

// CHECK-LABEL: @gather
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
func.func @gather(%x: tensor<100x64xf32>, %rows: tensor<16xi32>, %init: tensor<16x64xf32> {bufferization.writable = true}) -> tensor<16x64xf32> {
  %0 = block.gather %x[%rows] outs(%init) : tensor<100x64xf32>[tensor<16xi32>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// CHECK-LABEL: @scatter
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
func.func @scatter(%t: tensor<16x64xf32>, %rows: tensor<16xi32>, %y: tensor<100x64xf32> {bufferization.writable = true}) -> tensor<100x64xf32> {
  %0 = block.scatter %t into %y[%rows] : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
  %1 = block.scatter accumulate %t into %0[%rows] : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
  return %1 : tensor<100x64xf32>
}

// The running slice is the one allocation.
// CHECK-LABEL: @scan
// CHECK-NOT: memref.copy
// CHECK: memref.alloc() {{.*}} : memref<64xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
func.func @scan(%x: tensor<16x64xf32>, %init: tensor<16x64xf32> {bufferization.writable = true}) -> tensor<16x64xf32> {
  %0 = block.scan add %x along 0 outs(%init) : tensor<16x64xf32> -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// The row being solved is the one allocation.
// CHECK-LABEL: @solve
// CHECK-NOT: memref.alloc() {{.*}}x64xf32>
// CHECK-NOT: memref.copy %{{.*}}x64xf32>
// CHECK: memref.alloc() {{.*}} : memref<64xf32>
// CHECK-NOT: memref.alloc
func.func @solve(%a: tensor<16x16xf32>, %b: tensor<16x64xf32> {bufferization.writable = true}) -> tensor<16x64xf32> {
  %0 = block.solve_triangular lower %a outs(%b) : tensor<16x16xf32> -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
