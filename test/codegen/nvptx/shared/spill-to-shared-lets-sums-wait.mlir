// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-assign-layouts --nvptx-stage-operands --nvptx-expand-conversions --nvptx-spill-to-shared --nvptx-pipeline-copies --nvptx-allocate-shared --verify-semantics | FileCheck %s

// Two sums of 128 registers each are more than a thread has beside its work: they are added up in shared memory, each element by
// one thread, which waits for no other.
// CHECK: %[[SUM:.*]] = tile.alloc {{.*}}: memref<128x128xf32, {{.*}}3>
// CHECK: scf.for
// CHECK-NOT: -> (tensor
// CHECK: %[[BEFORE:.*]] = tile.load %[[SUM]]
// CHECK-NEXT: %[[AFTER:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[BEFORE]]
// CHECK-NEXT: tile.store %[[AFTER]], %[[SUM]]
// CHECK-NEXT: %[[OTHER:.*]] = tile.load %[[BUFFER:.*]] :
// CHECK-NEXT: %[[MORE:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[OTHER]]
// CHECK-NEXT: tile.store %[[MORE]], %[[BUFFER]]
// CHECK: scf.yield
// CHECK: %[[TOTAL:.*]] = tile.load %[[SUM]]
// CHECK: tile.store %[[TOTAL]], %{{.*}} : {{.*}}memref<128x128xf32>
func.func @f(%x: memref<1024x128xbf16>, %y: memref<1024x128xbf16>, %p: memref<128x128xf32>, %q: memref<128x128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %sums = tile.splat %zero : f32 -> tensor<128x128xf32>
  %r:2 = scf.for %i = %c0 to %end step %step iter_args(%a = %sums, %b = %sums) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %xv = memref.subview %x[%i, 0] [16, 128] [1, 1] : memref<1024x128xbf16> to memref<16x128xbf16, strided<[128, 1], offset: ?>>
    %yv = memref.subview %y[%i, 0] [16, 128] [1, 1] : memref<1024x128xbf16> to memref<16x128xbf16, strided<[128, 1], offset: ?>>
    %xt = tile.load %xv : memref<16x128xbf16, strided<[128, 1], offset: ?>> -> tensor<16x128xbf16>
    %yt = tile.load %yv : memref<16x128xbf16, strided<[128, 1], offset: ?>> -> tensor<16x128xbf16>
    %c = tile.dot %xt transpose_a, %yt, %a : tensor<16x128xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>
    %d = tile.dot %yt transpose_a, %xt, %b : tensor<16x128xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>
    scf.yield %c, %d : tensor<128x128xf32>, tensor<128x128xf32>
  }
  tile.store %r#0, %p : tensor<128x128xf32>, memref<128x128xf32>
  tile.store %r#1, %q : tensor<128x128xf32>, memref<128x128xf32>
  return
}
