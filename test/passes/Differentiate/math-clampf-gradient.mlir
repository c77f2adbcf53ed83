// RUN: %for_each X=-0.5,0.5,1.5 L=0.0 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null
// RUN: %for_each X=0.5,1.25,2.5,1.75 L=2.0 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The second line has bounds that cross: the upper one is the result.
func.func @f(%x: f64 {check.range = array<f64: $X, $X>}, %lo: f64 {check.range = array<f64: $L, $L>}, %hi: f64 {check.range = array<f64: 1.0, 1.0>}) -> f64 {
  %y = math.clampf %x to [%lo, %hi] : f64
  return %y : f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2]
  return
}
