// RUN: drawloom-opt %s --merge-elementwise --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --merge-elementwise=for-derivatives | FileCheck %s --check-prefix=DERIVATIVES

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// No copy for each row and column is made of the four numbers.
// CHECK: #[[OUTER:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[X:.*]]: tensor<5x4x3xf32>, %[[A:.*]]: tensor<4xf32>
// CHECK-NOT: linalg.broadcast
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[OUTER]], {{.*}}]{{.*}}} ins(%[[X]], %[[A]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @groups(%x: tensor<5x4x3xf32>, %a: tensor<4xf32>) -> tensor<5x4x3xf32> {
  %e = tensor.empty() : tensor<5x4x3xf32>
  %b = linalg.broadcast ins(%a : tensor<4xf32>) outs(%e : tensor<5x4x3xf32>) dimensions = [0, 2]
  %y = arith.mulf %x, %b : tensor<5x4x3xf32>
  %z = arith.addf %y, %b : tensor<5x4x3xf32>
  return %z : tensor<5x4x3xf32>
}

// How many columns are added up, only the copies say.
// CHECK-LABEL: func.func @columns
// CHECK: linalg.broadcast
// CHECK: linalg.generic
func.func @columns(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %b = linalg.broadcast ins(%a : tensor<4xf32>) outs(%e : tensor<4x3xf32>) dimensions = [1]
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<4x3xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// A product's start is no elementwise operand.
// CHECK-LABEL: func.func @bias
// CHECK: linalg.broadcast
// CHECK: linalg.matmul
func.func @bias(%x: tensor<5x2xf32>, %w: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x3xf32>
  %s = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<5x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<5x2xf32>, tensor<2x3xf32>) outs(%s : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// One number for all is no tensor, how many elements there may be.
// CHECK-LABEL: func.func @number
// CHECK-NOT: tensor.splat
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?xf32>)
// CHECK: arith.addf %{{.*}}, %cst
func.func @number(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %ones = tensor.splat %one[%n] : tensor<?xf32>
  %y = arith.addf %x, %ones : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Extents of results are asked for between the ops of a chain: the chain is one op still.
// CHECK-LABEL: func.func @open
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @open(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %y : tensor<?xf32>
  %1 = arith.addf %0, %y : tensor<?xf32>
  %2 = arith.mulf %1, %x : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// A number in a tensor may be one that derivatives are taken of.
// CHECK-LABEL: func.func @factor
// CHECK: tensor.extract
// DERIVATIVES-LABEL: func.func @factor
// DERIVATIVES-NOT: tensor.extract
// DERIVATIVES: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<f32>, tensor<4xf32>)
func.func @factor(%x: tensor<4xf32>, %a: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.broadcast ins(%a : tensor<f32>) outs(%e : tensor<4xf32>) dimensions = [0]
  %y = arith.mulf %b, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
