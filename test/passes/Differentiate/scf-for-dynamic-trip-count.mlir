// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32, %l: index, %u: index, %s: index) -> f32 {
  %y = scf.for %i = %l to %u step %s iter_args(%h = %x) -> f32 {
    %a = arith.mulf %h, %h : f32
    scf.yield %a : f32
  }
  return %y : f32
}

func.func @df(%x: f32, %l: index, %u: index, %s: index, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x, %l, %u, %s) cotangents(%g) wrt [0]
      : (f32, index, index, index) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: f32, %[[ARG1:.+]]: index, %[[ARG2:.+]]: index, %[[ARG3:.+]]: index, %[[ARG4:.+]]: f32) -> f32
// CHECK: %[[V0:.+]] = arith.constant 1 : index
// CHECK: %[[V1:.+]] = arith.constant 0 : index
// CHECK: %[[V2:.+]] = arith.subi %[[ARG2]], %[[ARG1]] : index
// CHECK: %[[V3:.+]] = arith.ceildivsi %[[V2]], %[[ARG3]] : index
// CHECK: %[[V4:.+]] = arith.maxsi %[[V3]], %[[V1]] : index
// CHECK: %[[V5:.+]] = tensor.empty(%[[V4]]) : tensor<?xf32>
// CHECK: %[[V6:.+]]:2 = scf.for %[[V7:.+]] = %[[ARG1]] to %[[ARG2]] step %[[ARG3]] iter_args(%[[V8:.+]] = %[[ARG0]], %[[V9:.+]] = %[[V5]]) -> (f32, tensor<?xf32>) {
// CHECK: %[[V10:.+]] = arith.mulf %[[V8]], %[[V8]] : f32
// CHECK: %[[V11:.+]] = arith.subi %[[V7]], %[[ARG1]] : index
// CHECK: %[[V12:.+]] = arith.divsi %[[V11]], %[[ARG3]] : index
// CHECK: %[[V13:.+]] = tensor.insert %[[V8]] into %[[V9]][%[[V12]]] : tensor<?xf32>
// CHECK: scf.yield %[[V10]], %[[V13]] : f32, tensor<?xf32>
// CHECK: %[[V14:.+]] = scf.for %[[V7]] = %[[V1]] to %[[V4]] step %[[V0]] iter_args(%[[V8]] = %[[ARG4]]) -> (f32) {
// CHECK: %[[V10]] = arith.subi %[[V4]], %[[V0]] : index
// CHECK: %[[V11]] = arith.subi %[[V10]], %[[V7]] : index
// CHECK: %[[V15:.+]] = tensor.extract %[[V6]]#1[%[[V11]]] : tensor<?xf32>
// CHECK: %[[V12]] = arith.mulf %[[V8]], %[[V15]] : f32
// CHECK: %[[V16:.+]] = arith.addf %[[V12]], %[[V12]] : f32
// CHECK: scf.yield %[[V16]] : f32
// CHECK: return %[[V14]] : f32
