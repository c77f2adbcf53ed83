// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-loop-over-batches -split-input-file | FileCheck %s

// Into the place in the block's result.
// CHECK-LABEL: func.func @in_block
// CHECK: scf.forall (%{{.*}}) in (4) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]][%{{.*}}, 0, 0] [16, 32, 8]
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%[[MADE:.*]] = %[[PLACE]])
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[0, %[[K]], 0] [16, 1, 32] [1, 1, 1] : tensor<16x32x32xf32> to tensor<16x32xf32>
// CHECK: %[[W:.*]] = tensor.extract_slice %{{.*}}[%[[K]], 0, 0] [1, 32, 8] [1, 1, 1] : tensor<32x32x8xf32> to tensor<32x8xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<16x8xf32>
// CHECK: %[[Y:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[ZERO]] :
// CHECK: tensor.insert_slice %[[Y]] into %[[MADE]][0, %[[K]], 0] [16, 1, 8]
#x = affine_map<(t, b, n, k) -> (t, b, k)>
#w = affine_map<(t, b, n, k) -> (b, k, n)>
#y = affine_map<(t, b, n, k) -> (t, b, n)>
func.func @in_block(%x: tensor<64x32x32xf32>, %w: tensor<32x32x8xf32>) -> tensor<64x32x8xf32> {
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<64x32x8xf32>
  %y = scf.forall (%i) in (4) shared_outs(%out = %all) -> (tensor<64x32x8xf32>) {
    %at = arith.muli %i, %c16 : index
    %some = tensor.extract_slice %x[%at, 0, 0] [16, 32, 32] [1, 1, 1] : tensor<64x32x32xf32> to tensor<16x32x32xf32>
    %e = tensor.empty() : tensor<16x32x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32x8xf32>) -> tensor<16x32x8xf32>
    %p = linalg.contract indexing_maps = [#x, #w, #y] ins(%some, %w : tensor<16x32x32xf32>, tensor<32x32x8xf32>) outs(%f : tensor<16x32x8xf32>) -> tensor<16x32x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %out[%at, 0, 0] [16, 32, 8] [1, 1, 1] : tensor<16x32x8xf32> into tensor<64x32x8xf32>
    }
  }
  return %y : tensor<64x32x8xf32>
}

// -----

// A batch of one is its product.
// CHECK-LABEL: func.func @one
// CHECK-NOT: scf.for
// CHECK: linalg.contract {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
#x = affine_map<(t, b, n, k) -> (t, b, k)>
#w = affine_map<(t, b, n, k) -> (b, k, n)>
#y = affine_map<(t, b, n, k) -> (t, b, n)>
func.func @one(%x: tensor<4x1x2xf32>, %w: tensor<1x2x8xf32>, %init: tensor<4x1x8xf32>) -> tensor<4x1x8xf32> {
  %y = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<4x1x2xf32>, tensor<1x2x8xf32>) outs(%init : tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  return %y : tensor<4x1x8xf32>
}

// -----

// What registers hold stays as it is, and what one instruction multiplies.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: scf.for
// CHECK-COUNT-2: linalg.contract {{.*}} -> tensor<{{.*}}x{{.*}}x{{.*}}xf32>
#x = affine_map<(t, b, n, k) -> (t, b, k)>
#w = affine_map<(t, b, n, k) -> (b, k, n)>
#y = affine_map<(t, b, n, k) -> (t, b, n)>
#xb = affine_map<(b, t, n, k) -> (b, t, k)>
#wb = affine_map<(b, t, n, k) -> (b, k, n)>
#yb = affine_map<(b, t, n, k) -> (b, t, n)>
func.func @stay(%x: tensor<4x4x2xf32>, %w: tensor<4x2x8xf32>, %init: tensor<4x4x8xf32>,
                %xb: tensor<4x64x32xbf16>, %wb: tensor<4x32x64xbf16>, %initb: tensor<4x64x64xf32>) -> (tensor<4x4x8xf32>, tensor<4x64x64xf32>) {
  %y = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<4x4x2xf32>, tensor<4x2x8xf32>) outs(%init : tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %z = linalg.contract indexing_maps = [#xb, #wb, #yb] ins(%xb, %wb : tensor<4x64x32xbf16>, tensor<4x32x64xbf16>) outs(%initb : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  return %y, %z : tensor<4x4x8xf32>, tensor<4x64x64xf32>
}
