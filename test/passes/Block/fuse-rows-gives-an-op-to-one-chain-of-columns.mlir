// RUN: drawloom-opt %s --fuse-rows=wide-products --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both products end in one op: it goes on from one of them, and reads the other.
// CHECK-LABEL: func.func @gated
// CHECK: scf.forall ({{.*}}, {{.*}}) in
// CHECK: linalg.{{matmul|contract}}
// CHECK: %[[GATE:.*]] = scf.forall
// CHECK: arith.mulf
// CHECK: return %[[GATE]]
func.func @gated(%h: tensor<?x512xf32> {drawloom.extents = array<i64: 0, -1>}, %w: tensor<512x2048xf32>, %v: tensor<512x2048xf32>) -> (tensor<?x2048xf32> {drawloom.extents = array<i64: 0, -1>}) {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %h, %c0 : tensor<?x512xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%r) : tensor<?x2048xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %y = linalg.matmul ins(%h, %w : tensor<?x512xf32>, tensor<512x2048xf32>) outs(%s : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %y2 = linalg.matmul ins(%h, %v : tensor<?x512xf32>, tensor<512x2048xf32>) outs(%s : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y2, %y : tensor<?x2048xf32>, tensor<?x2048xf32>) outs(%e : tensor<?x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<?x2048xf32>
  return %g : tensor<?x2048xf32>
}
