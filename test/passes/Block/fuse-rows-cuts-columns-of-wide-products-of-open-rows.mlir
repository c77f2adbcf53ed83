// RUN: drawloom-opt %s --fuse-rows=wide-products --canonicalize | FileCheck %s
// RUN: drawloom-opt %s --fuse-rows="wide-products column-bytes=33554432" --canonicalize | FileCheck %s --check-prefix=ROWS

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks of rows would read 16 MiB each. A block of 64 columns reads its part
// once, turned if it lies the other way, and goes through all rows; what goes on
// from the sums does so in them. The thin product has blocks of rows.
// CHECK-LABEL: func.func @low_rank
// CHECK: scf.forall
// CHECK: linalg.contract {{.*}} tensor<64x2048xf32>, tensor<2048x16xf32>
// CHECK: scf.forall ({{.*}}, {{.*}}) in ({{.*}}, 32)
// CHECK: %[[TURNED:.*]] = linalg.transpose ins({{.*}} : tensor<64x2048xf32>)
// CHECK: scf.for
// CHECK: linalg.fill {{.*}} tensor<64x64xf32>
// CHECK: linalg.contract {{.*}} ins({{.*}}, %[[TURNED]] : tensor<64x2048xf32>, tensor<2048x64xf32>)
// CHECK: linalg.contract {{.*}} ins({{.*}} : tensor<64x16xf32>, tensor<16x64xf32>)
// CHECK: linalg.generic
// CHECK: scf.for
// CHECK: linalg.contract {{.*}} ins({{.*}}, %[[TURNED]] : tensor<16x2048xf32>, tensor<2048x64xf32>)
// CHECK: scf.for
// CHECK: linalg.contract {{.*}} ins({{.*}}, %[[TURNED]] : tensor<4x2048xf32>, tensor<2048x64xf32>)
// CHECK: scf.for
// CHECK: linalg.contract {{.*}} ins({{.*}}, %[[TURNED]] : tensor<1x2048xf32>, tensor<2048x64xf32>)
// ROWS-LABEL: func.func @low_rank
// ROWS: linalg.contract {{.*}} tensor<64x2048xf32>, tensor<2048x2048xf32>
func.func @low_rank(%x: tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}, %w: tensor<2048x2048xf32>, %a: tensor<16x2048xf32>, %b: tensor<2048x16xf32>, %bias: tensor<2048xf32>) -> (tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x2048xf32>
  %ey = tensor.empty(%t) : tensor<?x2048xf32>
  %es = tensor.empty(%t) : tensor<?x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%es : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.contract indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (n, k)>, affine_map<(t, n, k) -> (t, n)>]
      ins(%x, %w : tensor<?x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %s = linalg.contract indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (n, k)>, affine_map<(t, n, k) -> (t, n)>]
      ins(%x, %a : tensor<?x2048xf32>, tensor<16x2048xf32>) outs(%begin : tensor<?x16xf32>) -> tensor<?x16xf32>
  %p = linalg.contract indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (n, k)>, affine_map<(t, n, k) -> (t, n)>]
      ins(%s, %b : tensor<?x16xf32>, tensor<2048x16xf32>) outs(%y : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (n)>, affine_map<(t, n) -> (t, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x2048xf32>, tensor<2048xf32>) outs(%ey : tensor<?x2048xf32>) {
  ^bb0(%v: f32, %c: f32, %o: f32):
    %sum = arith.addf %v, %c : f32
    linalg.yield %sum : f32
  } -> tensor<?x2048xf32>
  return %z : tensor<?x2048xf32>
}
