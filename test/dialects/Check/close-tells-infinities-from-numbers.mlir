// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A tolerance relative to infinity would be infinite, and any number close to it.
func.func @number_for_infinity() {
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  // expected-error @+1 {{failed: actual 1, expected inf}}
  check.close %one, %inf : f32
  return
}

func.func @number_for_minus_infinity() {
  %one = arith.constant 1.0 : f32
  %minus = arith.constant 0xFF800000 : f32
  // expected-error @+1 {{failed: actual 1, expected -inf}}
  check.close %one, %minus : f32
  return
}

func.func @infinity_for_number() {
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  // expected-error @+1 {{failed: actual inf, expected 1}}
  check.close %inf, %one : f32
  return
}
