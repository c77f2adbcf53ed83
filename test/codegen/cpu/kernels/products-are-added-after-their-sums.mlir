// Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where two products are added late, because others read them as well, neither is the accumulator of the other: which one
// it is would depend on the tile.
//
// RUN: drawloom-run %s --isa=avx512 --compile-to=kernels | FileCheck %s --implicit-check-not=vector.contract

// CHECK: vector.contract {{.*}}, %cst{{[_0-9]*}} : vector<16x1xf32>
// CHECK: %[[PRODUCT:.*]] = vector.contract {{.*}}, %cst{{[_0-9]*}} : vector<16x1xf32>
// CHECK: arith.addf %[[PRODUCT]],
func.func @main(%x: tensor<512x1xf32>, %y: tensor<512x1xf32>, %v: tensor<1x16xf32>, %w: tensor<1x16xf32>, %z: tensor<512x16xf32>) -> (tensor<512x16xf32>, tensor<512x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x16xf32>) -> tensor<512x16xf32>
  %a = linalg.matmul ins(%x, %v : tensor<512x1xf32>, tensor<1x16xf32>) outs(%start : tensor<512x16xf32>) -> tensor<512x16xf32>
  %b = linalg.matmul ins(%y, %w : tensor<512x1xf32>, tensor<1x16xf32>) outs(%start : tensor<512x16xf32>) -> tensor<512x16xf32>
  %sum = arith.addf %a, %b : tensor<512x16xf32>
  %all = arith.addf %sum, %z : tensor<512x16xf32>
  %twice = arith.addf %a, %a : tensor<512x16xf32>
  return %all, %twice : tensor<512x16xf32>, tensor<512x16xf32>
}
