// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the first value becomes depends on the last one three iterations before.
func.func @f(%x: f64) -> f64 {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f64
  %r:4 = scf.for %i = %0 to %4 step %1 iter_args(%a = %z, %b = %z, %c = %z, %d = %x) -> (f64, f64, f64, f64) {
    %s = arith.addf %a, %b : f64
    %c2 = arith.addf %c, %z : f64
    %d2 = arith.mulf %d, %d : f64
    scf.yield %s, %c2, %d2, %d : f64, f64, f64, f64
  }
  return %r#0 : f64
}
func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
