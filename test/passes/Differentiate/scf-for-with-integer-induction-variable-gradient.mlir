// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64) -> f64 {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %l32 = arith.constant 1 : i32
  %u32 = arith.constant 6 : i32
  %s32 = arith.constant 2 : i32
  %y = scf.for %i = %l32 to %u32 step %s32 iter_args(%h = %x) -> f64 : i32 {
    %f = arith.sitofp %i : i32 to f64
    %a = arith.mulf %h, %f : f64
    %s = math.sin %a : f64
    scf.yield %s : f64
  }
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
