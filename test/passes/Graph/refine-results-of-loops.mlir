// RUN: drawloom-opt %s --refine-results --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a loop starts from says what it carries, however often its result is used.
// CHECK-LABEL: func.func @f
// CHECK-SAME: -> tensor<4xf32>
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: return %{{.*}} : tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %start) -> (tensor<?xf32>) {
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%s : tensor<?xf32>) {
    ^bb0(%v: f32):
      %t = math.tanh %v : f32
      linalg.yield %t : f32
    } -> tensor<?xf32>
    scf.yield %n : tensor<?xf32>
  }
  %n = tensor.dim %r, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%r : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.mulf %v, %v : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// So does what a scf.while starts from, and what its condition forwards.
// CHECK-LABEL: func.func @while
// CHECK-SAME: -> tensor<4xf32>
// CHECK: scf.while {{.*}} : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>)
// CHECK: return %{{.*}} : tensor<4xf32>
func.func @while(%x: tensor<4xf32>, %limit: i32) -> tensor<?xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %n, %r = scf.while (%i = %zero, %s = %start) : (i32, tensor<?xf32>) -> (i32, tensor<?xf32>) {
    %more = arith.cmpi slt, %i, %limit : i32
    scf.condition(%more) %i, %s : i32, tensor<?xf32>
  } do {
  ^bb0(%i: i32, %s: tensor<?xf32>):
    %j = arith.addi %i, %one : i32
    %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%s : tensor<?xf32>) {
    ^bb0(%v: f32):
      %u = math.tanh %v : f32
      linalg.yield %u : f32
    } -> tensor<?xf32>
    scf.yield %j, %t : i32, tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// What a reshape of a loop's result gives is known, too.
// CHECK-LABEL: func.func @reshaped
// CHECK-SAME: -> tensor<12xf32>
// CHECK: tensor.collapse_shape {{.*}} : tensor<4x3xf32> into tensor<12xf32>
func.func @reshaped(%a: tensor<4x3xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %open = tensor.cast %a : tensor<4x3xf32> to tensor<?x3xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %open) -> (tensor<?x3xf32>) {
    %n = linalg.exp ins(%s : tensor<?x3xf32>) outs(%s : tensor<?x3xf32>) -> tensor<?x3xf32>
    scf.yield %n : tensor<?x3xf32>
  }
  %flat = tensor.collapse_shape %r [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
  return %flat : tensor<?xf32>
}
