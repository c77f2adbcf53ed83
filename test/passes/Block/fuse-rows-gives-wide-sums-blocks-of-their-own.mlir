// RUN: drawloom-opt %s --fuse-rows=wide-products --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each block of rows would carry 16 MiB. A block of 256 x 512 elements goes
// through all rows, in their order, from what the sum starts with.
// CHECK-LABEL: func.func @gradient
// CHECK: scf.forall ({{.*}}, {{.*}}) in (8, 4)
// CHECK: linalg.copy ins({{.*}} : tensor<256x512xf32>)
// CHECK: scf.for
// CHECK: linalg.transpose ins({{.*}} : tensor<256x256xf32>)
// CHECK: linalg.contract {{.*}} tensor<256x256xf32>, tensor<256x512xf32>
// CHECK: scf.for
// CHECK: linalg.contract {{.*}} tensor<256x64xf32>, tensor<64x512xf32>
// CHECK: linalg.contract {{.*}} tensor<256x16xf32>, tensor<16x512xf32>
// CHECK: linalg.contract {{.*}} tensor<256x4xf32>, tensor<4x512xf32>
// CHECK: linalg.contract {{.*}} tensor<256x1xf32>, tensor<1x512xf32>
// CHECK: tensor.parallel_insert_slice {{.*}} [256, 512]
func.func @gradient(%x: tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}, %g: tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}, %start: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %y = linalg.contract indexing_maps = [affine_map<(n, k, t) -> (t, k)>, affine_map<(n, k, t) -> (t, n)>, affine_map<(n, k, t) -> (n, k)>]
      ins(%x, %g : tensor<?x2048xf32>, tensor<?x2048xf32>) outs(%start : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %y : tensor<2048x2048xf32>
}
