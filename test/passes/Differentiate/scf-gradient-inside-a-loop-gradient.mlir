// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @energy(%x: f64) -> f64 {
  %s = math.sin %x : f64
  %y = arith.mulf %s, %x : f64
  return %y : f64
}
func.func @f(%x: f64, %rate: f64) -> f64 {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> f64 {
    %e, %d = ad.value_and_grad @energy(%h) wrt [0] : (f64) -> (f64, f64)
    %u = arith.mulf %d, %rate : f64
    %n = arith.subf %h, %u : f64
    scf.yield %n : f64
  }
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
