// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --fuse-rows="sum-bytes=4096 sum-part-bytes=16384 tile-rows=32 max-blocks=8 operations-per-sum-byte=0" --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --fuse-rows="sum-bytes=4096 tile-rows=32 max-blocks=8 operations-per-sum-byte=0" --verify-semantics | FileCheck %s --check-prefix=WHOLE

// A sum that is more than a block can carry has blocks for parts of it: of 8 blocks, 2 for each quarter.
// CHECK-LABEL: func.func @gradient(
// CHECK: scf.forall (%[[BLOCK:.*]], %[[I:.*]], %[[J:.*]]) in (2, 2, 2) shared_outs(%[[PARTS:.*]] = %{{.*}}) -> (tensor<2x128x128xf32>)
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c64
// CHECK: %[[COLUMN:.*]] = arith.muli %[[J]], %c64
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK: %[[A:.*]] = tensor.extract_slice %arg0[%{{.*}}, %[[ROW]]] [32, 64]
// CHECK: %[[B:.*]] = tensor.extract_slice %arg1[%{{.*}}, %[[COLUMN]]] [32, 64]
// CHECK: linalg.contract {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[SUM]] : tensor<64x64xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[PARTS]][%[[BLOCK]], %[[ROW]], %[[COLUMN]]] [1, 64, 64]
// The rest of 8 rows is added up apart.
// CHECK: scf.forall ({{.*}}) in (1, 2, 2)
// CHECK: tensor.extract_slice %arg0[{{.*}}] [8, 64]
// WHOLE: scf.forall ({{.*}}) in (8) shared_outs({{.*}} -> (tensor<8x128x128xf32>)
#rows_in = affine_map<(m, n, k) -> (k, m)>
#columns_in = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @gradient(%x: tensor<520x128xf32>, %d: tensor<520x128xf32>) -> (tensor<520x128xf32>, tensor<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<520x128xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%x : tensor<520x128xf32>) outs(%ex : tensor<520x128xf32>) -> tensor<520x128xf32>
  %e = tensor.empty() : tensor<128x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %sum = linalg.contract indexing_maps = [#rows_in, #columns_in, #out]
    ins(%x, %d : tensor<520x128xf32>, tensor<520x128xf32>) outs(%start : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %y, %sum : tensor<520x128xf32>, tensor<128x128xf32>
}

// An extent that cannot be halved stays: 75 x 128 numbers of 37.5 KiB are cut in four along the other one.
// CHECK-LABEL: func.func @odd(
// CHECK: scf.forall ({{.*}}) in (2, 1, 4) shared_outs({{.*}}) -> (tensor<2x75x128xf32>)
func.func @odd(%x: tensor<512x75xf32>, %d: tensor<512x128xf32>) -> (tensor<512x75xf32>, tensor<75x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<512x75xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%x : tensor<512x75xf32>) outs(%ex : tensor<512x75xf32>) -> tensor<512x75xf32>
  %e = tensor.empty() : tensor<75x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<75x128xf32>) -> tensor<75x128xf32>
  %sum = linalg.contract indexing_maps = [#rows_in, #columns_in, #out]
    ins(%x, %d : tensor<512x75xf32>, tensor<512x128xf32>) outs(%start : tensor<75x128xf32>) -> tensor<75x128xf32>
  return %y, %sum : tensor<512x75xf32>, tensor<75x128xf32>
}
