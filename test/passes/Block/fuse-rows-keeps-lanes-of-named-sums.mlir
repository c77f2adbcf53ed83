// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --fuse-rows --canonicalize --verify-semantics | FileCheck %s

// A sum over rows and columns keeps one lane a column, however it is written: each tile's own sum would round by the tile's size.
// CHECK: scf.forall {{.*}} -> (tensor<{{[0-9]+}}x16xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%{{.*}} : tensor<16xf32>) outs(%{{.*}} : tensor<f32>)
func.func @sum(%x: tensor<256x16xf32>, %start: tensor<f32>) -> tensor<f32> {
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<256x16xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %sum : tensor<f32>
}
