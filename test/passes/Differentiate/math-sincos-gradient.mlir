// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64) -> (f64, f64) {
  %s, %c = math.sincos %x : f64
  return %s, %c : f64, f64
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
