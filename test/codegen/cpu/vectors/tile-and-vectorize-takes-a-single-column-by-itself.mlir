// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --isa=avx2 --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of 17 columns, 16 go by tiles of six rows, and the last one by vectors of four
// rows: there is no vector of six.
// CHECK-LABEL: func.func @clipped
// CHECK: vector.contract {{.*}} into vector<6x16xf32>
// CHECK: vector.contract {{.*}} into vector<5x16xf32>
// CHECK: vector.contract {{.*}} into vector<4{{(x1)?}}xf32>
// CHECK: arith.maximumf {{.*}} : vector<4xf32>
// CHECK-NOT: vector<6xf32>
func.func @clipped(%a: tensor<16x8xf32>, %b: tensor<8x17xf32>) -> tensor<16x17xf32> {
  %z = arith.constant dense<0.0> : tensor<16x17xf32>
  %y = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x17xf32>) outs(%z : tensor<16x17xf32>) -> tensor<16x17xf32>
  %r = arith.maximumf %y, %z : tensor<16x17xf32>
  return %r : tensor<16x17xf32>
}
