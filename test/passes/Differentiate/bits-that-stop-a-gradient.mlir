// RUN: drawloom-opt %s --differentiate | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The value goes on by way of an integer, and its derivative does not: that of
// y = stopped * x is stopped alone.

func.func private @f(%x: f32) -> f32 {
  %i = arith.bitcast %x {ad.stops} : f32 to i32
  %one = arith.constant 1 : i32
  %j = arith.addi %i, %one : i32
  %stopped = arith.bitcast %j : i32 to f32
  %y = arith.mulf %stopped, %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @df(
// CHECK-SAME:    %[[X:.*]]: f32, %[[G:.*]]: f32
// CHECK:         %[[I:.*]] = arith.bitcast %[[X]]
// CHECK:         %[[J:.*]] = arith.addi %[[I]]
// CHECK:         %[[STOPPED:.*]] = arith.bitcast %[[J]]
// CHECK:         %[[DX:.*]] = arith.mulf
// CHECK-SAME:    %[[STOPPED]]
// CHECK:         return %[[DX]] : f32
func.func @df(%x: f32, %g: f32) -> f32 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0] : (f32) -> (f32, f32)
  return %dx : f32
}
