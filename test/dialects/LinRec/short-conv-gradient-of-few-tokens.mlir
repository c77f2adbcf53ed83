// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each sequence has one token, and three rows in front of it. Rows that would meet
// a second token meet nothing, and not the token of the next sequence.
func.func @gradient(%x: tensor<2x1x8xf64>, %w: tensor<8x4xf64>, %initial: tensor<2x3x8xf64>, %dy: tensor<2x1x8xf64>, %dlast: tensor<2x3x8xf64>) -> (tensor<2x1x8xf64>, tensor<8x4xf64>, tensor<2x3x8xf64>) {
  %dx, %dw, %di = linrec.short_conv_bwd silu %x, %w initial(%initial) cotangents(%dy, %dlast)
    : (tensor<2x1x8xf64>, tensor<8x4xf64>, tensor<2x3x8xf64>, tensor<2x1x8xf64>, tensor<2x3x8xf64>) -> (tensor<2x1x8xf64>, tensor<8x4xf64>, tensor<2x3x8xf64>)
  return %dx, %dw, %di : tensor<2x1x8xf64>, tensor<8x4xf64>, tensor<2x3x8xf64>
}
