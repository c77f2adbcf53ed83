// RUN: %for_each X=-0.5,0.5,1.5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64 {check.range = array<f64: $X, $X>}, %lo: f64 {check.range = array<f64: 0.0, 0.0>}, %hi: f64 {check.range = array<f64: 1.0, 1.0>}) -> f64 {
  %y = math.clampf %x to [%lo, %hi] : f64
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2]
  return
}
