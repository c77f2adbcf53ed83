// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64, %w: f64) -> f64 {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %zero = arith.constant 1.0 : f64
  %y:2 = scf.for %i = %lo to %up step %step
      iter_args(%a = %x, %b = %zero) -> (f64, f64) {
    %p = arith.mulf %b, %w : f64
    %q = math.sin %a : f64
    scf.yield %p, %q : f64, f64
  }
  return %y#0 : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
