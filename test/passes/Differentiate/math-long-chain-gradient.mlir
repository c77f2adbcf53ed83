// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64, %w: f64) -> f64 {
  %a = arith.mulf %x, %w : f64
  %b = math.tanh %a : f64
  %c = math.exp %b : f64
  %d = arith.addf %c, %x : f64
  %e = arith.divf %b, %d : f64
  return %e : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1] in [0.2, 1.0]
  return
}
