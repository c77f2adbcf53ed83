// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @f
// CHECK: arith.addf
// CHECK: arith.addf
func.func @f(%x: f32) -> (f32, f32) {
  %y = arith.addf %x, %x : f32
  %z = arith.addf %x, %x : f32
  return %y, %z : f32, f32
}
