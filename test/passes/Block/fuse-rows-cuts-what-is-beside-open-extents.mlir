// RUN: drawloom-opt %s --fuse-rows --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The open extent is handed on, and nothing else: the sum is cut as where the
// extent is known.
// CHECK-LABEL: func.func @open
// CHECK: scf.forall
// CHECK: drawloom.in_order
func.func @open(%x: tensor<?x8xf32>, %a: tensor<129xf32>, %b: tensor<129xf32>) -> (tensor<?x8xf32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.dot ins(%a, %b : tensor<129xf32>, tensor<129xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %x, %s : tensor<?x8xf32>, tensor<f32>
}

// There was an op over rows, of which a call has none: if they were open, the
// sum would not be cut.
// CHECK-LABEL: func.func @none
// CHECK-NOT: scf.forall
// CHECK: linalg.dot
func.func @none(%x: tensor<0x8xf32> {drawloom.given_dims = array<i64: 0>}, %a: tensor<129xf32>, %b: tensor<129xf32>) -> tensor<f32> attributes {drawloom.no_given_rows} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.dot ins(%a, %b : tensor<129xf32>, tensor<129xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
