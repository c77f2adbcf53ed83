// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(nvptx-simplify-tiles))' --verify-semantics | FileCheck %s

// Folding leaves a constant of tiles, which has no layout.
// CHECK-LABEL: @folded
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[TILE:.*]] = tile.splat %[[THREE]] : f32 -> tensor<4xf32>
// CHECK: tile.store %[[TILE]]
func.func @folded(%out: memref<4xf32>) {
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  %1 = arith.constant dense<2.0> : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  tile.store %2, %out : tensor<4xf32>, memref<4xf32>
  return
}
