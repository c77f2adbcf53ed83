// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --fuse-rows=note-rows --split-input-file --verify-diagnostics | FileCheck %s

// Also where no budget would choose them.
// CHECK-LABEL: @f
// CHECK: scf.forall
// CHECK: tensor<2048x8xf32>
// CHECK: {drawloom.schedule = {rows = 2048 : i64}}
func.func @f(%x: tensor<8192x8xf32>) -> tensor<8192x8xf32> attributes {drawloom.schedule = {rows = 2048, warps = 8}} {
  %e = tensor.empty() : tensor<8192x8xf32>
  %a = linalg.exp ins(%x : tensor<8192x8xf32>) outs(%e : tensor<8192x8xf32>) -> tensor<8192x8xf32>
  %b = linalg.exp ins(%a : tensor<8192x8xf32>) outs(%e : tensor<8192x8xf32>) -> tensor<8192x8xf32>
  return %b : tensor<8192x8xf32>
}

// -----

// expected-error @+1 {{a schedule's rows cannot be 0 : i64: a tile has one row at least}}
func.func @g(%x: tensor<8192x8xf32>) -> tensor<8192x8xf32> attributes {drawloom.schedule = {rows = 0}} {
  %e = tensor.empty() : tensor<8192x8xf32>
  %a = linalg.exp ins(%x : tensor<8192x8xf32>) outs(%e : tensor<8192x8xf32>) -> tensor<8192x8xf32>
  return %a : tensor<8192x8xf32>
}
