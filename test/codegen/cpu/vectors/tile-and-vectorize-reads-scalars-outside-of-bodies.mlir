// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @scaled
// CHECK: %[[S:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK: vector.broadcast %[[S]] : f32 to vector<{{.*}}xf32>
// CHECK: arith.mulf %{{.*}} : vector<
func.func @scaled(%x: tensor<64xf32>, %s: tensor<f32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %scale = tensor.extract %s[] : tensor<f32>
    %r = arith.mulf %in, %scale : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
