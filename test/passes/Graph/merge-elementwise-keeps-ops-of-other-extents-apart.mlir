// RUN: drawloom-opt %s --merge-elementwise --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both read the same rows by the same map, and repeat them eight times and
// sixteen times.
// CHECK-LABEL: func.func @repeat
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4x16xf32>)
#row = affine_map<(r, c) -> (r)>
#all = affine_map<(r, c) -> (r, c)>
func.func @repeat(%x: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x16xf32>) {
  %narrow = tensor.empty() : tensor<4x8xf32>
  %wide = tensor.empty() : tensor<4x16xf32>
  %a = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4xf32>) outs(%narrow : tensor<4x8xf32>) {
  ^bb0(%v: f32, %old: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4xf32>) outs(%wide : tensor<4x16xf32>) {
  ^bb0(%v: f32, %old: f32):
    %y = math.tanh %v : f32
    linalg.yield %y : f32
  } -> tensor<4x16xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x16xf32>
}
