// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @within
// CHECK: vector.multi_reduction <add>, {{.*}} {block.within_rows} [0] : vector<32xf32> to f32
// CHECK-LABEL: func.func @any
// CHECK-NOT: block.within_rows
#id = affine_map<(i) -> (i)>
#sum = affine_map<(i) -> ()>
func.func @within(%x: tensor<64xf32>, %s: tensor<f32>) -> tensor<f32> {
  %y = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["reduction"]}
      ins(%x : tensor<64xf32>) outs(%s : tensor<f32>) attrs = {block.within_rows} {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %out, %in : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
func.func @any(%x: tensor<64xf32>, %s: tensor<f32>) -> tensor<f32> {
  %y = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["reduction"]}
      ins(%x : tensor<64xf32>) outs(%s : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %out, %in : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
