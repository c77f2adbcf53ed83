// RUN: %for_each X=-0.5,0.5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64 {check.range = array<f64: $X, $X>}, %w: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %c = arith.cmpf olt, %x, %zero : f64
  %y = scf.if %c -> f64 {
    %a = arith.mulf %x, %w : f64
    %b = math.exp %a : f64
    scf.yield %b : f64
  } else {
    %a = math.sin %x : f64
    scf.yield %a : f64
  }
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
