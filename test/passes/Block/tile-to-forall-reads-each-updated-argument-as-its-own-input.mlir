// RUN: drawloom-opt %s --tile-to-forall=min-iterations=16 --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adam updates both moments of a gradient: what the body reads of each comes
// from the argument, as the empty tensor in its place has no numbers.
// CHECK-LABEL: func.func @moments
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %[[M:.*]]: f32, %[[V:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: arith.mulf %[[M]], %
// CHECK: arith.mulf %[[V]], %
#map = affine_map<(i) -> (i)>
func.func @moments(%g: tensor<64xf32>, %m: tensor<64xf32>, %v: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %old1 = arith.constant 0.9 : f32
  %new1 = arith.constant 0.1 : f32
  %old2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %mv:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%g : tensor<64xf32>) outs(%m, %v : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%gi: f32, %mi: f32, %vi: f32):
    %m0 = arith.mulf %mi, %old1 : f32
    %m1 = arith.mulf %gi, %new1 : f32
    %mn = arith.addf %m0, %m1 : f32
    %v0 = arith.mulf %vi, %old2 : f32
    %square = arith.mulf %gi, %gi : f32
    %v1 = arith.mulf %square, %new2 : f32
    %vn = arith.addf %v0, %v1 : f32
    linalg.yield %mn, %vn : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  return %mv#0, %mv#1 : tensor<64xf32>, tensor<64xf32>
}
