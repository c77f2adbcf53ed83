// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keys have two heads, betas three: what a segment does to a state differs in
// all six heads, more than either has.
func.func @forward(%q: tensor<1x64x2x4xf64>, %k0: tensor<1x64x2x4xf64>, %v: tensor<1x64x6x2xf64>, %beta: tensor<1x64x3xf64>) -> (tensor<1x64x6x2xf64>, tensor<1x6x4x2xf64>) {
  %half = arith.constant dense<0.5> : tensor<1x64x2x4xf64>
  %k = arith.mulf %k0, %half : tensor<1x64x2x4xf64>
  %0:2 = linrec.scan %q, %k, %v beta(%beta) {segments = 2 : i64, chunk = 16 : i64}
    : (tensor<1x64x2x4xf64>, tensor<1x64x2x4xf64>, tensor<1x64x6x2xf64>, tensor<1x64x3xf64>) -> (tensor<1x64x6x2xf64>, tensor<1x6x4x2xf64>)
  return %0#0, %0#1 : tensor<1x64x6x2xf64>, tensor<1x6x4x2xf64>
}
