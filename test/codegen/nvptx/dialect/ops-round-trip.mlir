// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: @memory
func.func @memory(%x: memref<?x64xf32>, %y: memref<64x64xbf16>) {
  // CHECK: tile.alloc : memref<64x64xbf16, strided<[72, 1]>, 3>
  %0 = tile.alloc : memref<64x64xbf16, strided<[72, 1]>, 3>
  // CHECK: tile.alloc at 1024 : memref<8xf32, 3>
  %1 = tile.alloc at 1024 : memref<8xf32, 3>
  // CHECK: tile.load %{{.*}} : memref<?x64xf32> -> tensor<16x64xf32>
  %2 = tile.load %x : memref<?x64xf32> -> tensor<16x64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} : tensor<16x64xf32>, memref<?x64xf32>
  tile.store %2, %x : tensor<16x64xf32>, memref<?x64xf32>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.block_id
  %3 = tile.block_id
  return
}

// CHECK-LABEL: @rows
func.func @rows(%x: memref<9x8xf32>, %i: tensor<4xi32>, %j: tensor<4x2xindex>) {
  // CHECK: tile.gather %{{.*}}[%{{.*}}] : memref<9x8xf32>[tensor<4xi32>] -> tensor<4x8xf32>
  %0 = tile.gather %x[%i] : memref<9x8xf32>[tensor<4xi32>] -> tensor<4x8xf32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] : tensor<4x8xf32>, memref<9x8xf32>[tensor<4xi32>]
  tile.scatter %0, %x[%i] : tensor<4x8xf32>, memref<9x8xf32>[tensor<4xi32>]
  // CHECK: tile.lookup %{{.*}}[%{{.*}}, %{{.*}}] : memref<9x8xf32>[tensor<4x2xindex>, tensor<4x2xindex>] -> tensor<4x2xf32>
  %1 = tile.lookup %x[%j, %j] : memref<9x8xf32>[tensor<4x2xindex>, tensor<4x2xindex>] -> tensor<4x2xf32>
  return
}

// CHECK-LABEL: @shapes
func.func @shapes(%number: f32, %x: tensor<16x64xf32>) {
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<64xf32>
  %0 = tile.splat %number : f32 -> tensor<64xf32>
  // CHECK: tile.iota along 1 : tensor<16x64xindex>
  %1 = tile.iota along 1 : tensor<16x64xindex>
  // CHECK: tile.broadcast %{{.*}} along [1] : tensor<64xf32> -> tensor<16x64xf32>
  %2 = tile.broadcast %0 along [1] : tensor<64xf32> -> tensor<16x64xf32>
  // CHECK: tile.broadcast %{{.*}} along [1, 0] : tensor<16x64xf32> -> tensor<64x16xf32>
  %3 = tile.broadcast %x along [1, 0] : tensor<16x64xf32> -> tensor<64x16xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<16x64xf32> -> tensor<4x256xf32>
  %4 = tile.reshape %x : tensor<16x64xf32> -> tensor<4x256xf32>
  return
}

// CHECK-LABEL: @combinations
func.func @combinations(%x: tensor<16x64xf32>, %scratch: memref<2x64xf32, 3>, %flags: tensor<16x64xi1>) {
  // CHECK: tile.reduce add %{{.*}} along [0] : tensor<16x64xf32> -> tensor<64xf32>
  %0 = tile.reduce add %x along [0] : tensor<16x64xf32> -> tensor<64xf32>
  // CHECK: tile.reduce max %{{.*}} along [0] through %{{.*}} : memref<2x64xf32, 3> : tensor<16x64xf32> -> tensor<64xf32>
  %1 = tile.reduce max %x along [0] through %scratch : memref<2x64xf32, 3> : tensor<16x64xf32> -> tensor<64xf32>
  // CHECK: tile.reduce or %{{.*}} along [0, 1] : tensor<16x64xi1> -> tensor<i1>
  %2 = tile.reduce or %flags along [0, 1] : tensor<16x64xi1> -> tensor<i1>
  // CHECK: tile.scan add %{{.*}} along 0 : tensor<16x64xf32> -> tensor<16x64xf32>
  %3 = tile.scan add %x along 0 : tensor<16x64xf32> -> tensor<16x64xf32>
  // CHECK: tile.scan mul exclusive reverse %{{.*}} along 1 : tensor<16x64xf32> -> tensor<16x64xf32>
  %4 = tile.scan mul exclusive reverse %x along 1 : tensor<16x64xf32> -> tensor<16x64xf32>
  // CHECK: tile.slice %{{.*}} at 5 along 0 : tensor<16x64xf32> -> tensor<64xf32>
  %5 = tile.slice %x at 5 along 0 : tensor<16x64xf32> -> tensor<64xf32>
  return
}

// CHECK-LABEL: @matrices
func.func @matrices(%a: tensor<64x32xbf16>, %b: memref<64x32xbf16, 3>, %c: tensor<64x64xf32>, %m: memref<16x16xf32, 3>,
                    %rhs: tensor<16x64xf32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b, %{{.*}} : tensor<64x32xbf16>, memref<64x32xbf16, 3>, tensor<64x64xf32>
  %0 = tile.dot %a, %b transpose_b, %c : tensor<64x32xbf16>, memref<64x32xbf16, 3>, tensor<64x64xf32>
  // CHECK: tile.solve %{{.*}}, %{{.*}} : memref<16x16xf32, 3>, tensor<16x64xf32>
  %1 = tile.solve %m, %rhs : memref<16x16xf32, 3>, tensor<16x64xf32>
  // CHECK: tile.solve reverse transpose unit %{{.*}}, %{{.*}}
  %2 = tile.solve reverse transpose unit %m, %rhs : memref<16x16xf32, 3>, tensor<16x64xf32>
  return
}

// CHECK-LABEL: @copies
func.func @copies(%x: memref<?x64xbf16>, %buffer: memref<16x64xbf16, strided<[72, 1]>, 3>) {
  // CHECK: tile.copy_async %{{.*}}, %{{.*}} by tensor<16x64xbf16> : memref<?x64xbf16>, memref<16x64xbf16, strided<[72, 1]>, 3>
  tile.copy_async %x, %buffer by tensor<16x64xbf16> : memref<?x64xbf16>, memref<16x64xbf16, strided<[72, 1]>, 3>
  // CHECK: tile.commit_copies
  tile.commit_copies
  // CHECK: tile.wait_copies 1
  tile.wait_copies 1
  return
}
