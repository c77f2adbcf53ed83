// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @step(%h: f64, %w: f64) -> f64 {
  %a = arith.mulf %h, %w : f64
  %s = math.sin %a : f64
  return %s : f64
}
func.func @f(%x: f64, %w: f64) -> f64 {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
    %s = func.call @step(%h, %w) : (f64, f64) -> f64
    scf.yield %s : f64
  }
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
