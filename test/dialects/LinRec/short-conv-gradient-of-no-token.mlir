// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Without a token, the last rows are those in front: so is their gradient.
func.func private @f(%x: tensor<1x0x2xf64>, %w: tensor<2x4xf64>, %i: tensor<1x3x2xf64>) -> tensor<1x3x2xf64> {
  %y, %last = linrec.short_conv none %x, %w initial(%i) : (tensor<1x0x2xf64>, tensor<2x4xf64>, tensor<1x3x2xf64>) -> (tensor<1x0x2xf64>, tensor<1x3x2xf64>)
  return %last : tensor<1x3x2xf64>
}
func.func @gradient(%x: tensor<1x0x2xf64>, %w: tensor<2x4xf64>, %i: tensor<1x3x2xf64>, %g: tensor<1x3x2xf64>) -> (tensor<2x4xf64>, tensor<1x3x2xf64>) {
  %r:3 = ad.vjp @f(%x, %w, %i) cotangents(%g) wrt [1, 2] : (tensor<1x0x2xf64>, tensor<2x4xf64>, tensor<1x3x2xf64>) -> (tensor<1x3x2xf64>, tensor<2x4xf64>, tensor<1x3x2xf64>)
  return %r#1, %r#2 : tensor<2x4xf64>, tensor<1x3x2xf64>
}
