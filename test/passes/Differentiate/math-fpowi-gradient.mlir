// RUN: %for_each P=-2.0,0.0,1.0,3.0 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64, %n: i32 {check.range = array<f64: $P, $P>}) -> f64 {
  %y = math.fpowi %x, %n : f64, i32
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0] in [0.5, 1.0]
  return
}
