// RUN: %for_each U=9.0,4.0,3.0,1.0 S=1.0,2.0,3.0 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64, %w: f64, %lo: index {check.range = array<f64: 3.0, 3.0>}, %up: index {check.range = array<f64: $U, $U>}, %step: index {check.range = array<f64: $S, $S>}) -> f64 {
  %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f64
    %a = arith.mulf %h, %f : f64
    %b = arith.mulf %a, %w : f64
    %s = math.sin %b : f64
    scf.yield %s : f64
  }
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
