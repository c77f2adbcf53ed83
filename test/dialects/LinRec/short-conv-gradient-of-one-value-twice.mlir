// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// As many tokens as are in front of them: one value may be both, and has a gradient as either.
func.func private @f(%x: tensor<1x3x2xf64>, %w: tensor<2x4xf64>) -> tensor<1x3x2xf64> {
  %y, %last = linrec.short_conv none %x, %w initial(%x) : (tensor<1x3x2xf64>, tensor<2x4xf64>, tensor<1x3x2xf64>) -> (tensor<1x3x2xf64>, tensor<1x3x2xf64>)
  return %y : tensor<1x3x2xf64>
}
func.func @gradient(%x: tensor<1x3x2xf64>, %w: tensor<2x4xf64>, %g: tensor<1x3x2xf64>) -> (tensor<1x3x2xf64>, tensor<2x4xf64>) {
  %r:3 = ad.vjp @f(%x, %w) cotangents(%g) wrt [0, 1] : (tensor<1x3x2xf64>, tensor<2x4xf64>) -> (tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<2x4xf64>)
  return %r#1, %r#2 : tensor<1x3x2xf64>, tensor<2x4xf64>
}
