// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The last of two chunks has 8 tokens of 32. Its other rows are found a share of
// the final state's gradient too, which is no token's and must not be added.
func.func @gradient(%q: tensor<2x40x2x4xf64>, %k: tensor<2x40x2x4xf64>, %v: tensor<2x40x2x3xf64>, %do: tensor<2x40x2x3xf64>, %dfinal: tensor<2x2x4x3xf64>) -> tensor<2xf64> {
  %g = arith.constant dense<[-0.1, -0.03]> : tensor<2xf64>
  %dq, %dk, %dv, %dg = linrec.scan_bwd %q, %k, %v decay(%g) cotangents(%do, %dfinal) {chunk = 32 : i64}
    : (tensor<2x40x2x4xf64>, tensor<2x40x2x4xf64>, tensor<2x40x2x3xf64>, tensor<2xf64>, tensor<2x40x2x3xf64>, tensor<2x2x4x3xf64>)
    -> (tensor<2x40x2x4xf64>, tensor<2x40x2x4xf64>, tensor<2x40x2x3xf64>, tensor<2xf64>)
  return %dg : tensor<2xf64>
}
