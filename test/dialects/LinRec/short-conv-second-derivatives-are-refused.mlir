// RUN: drawloom-opt %s --differentiate -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<1x4x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x4x2xf32> {
  // expected-error @below {{has no gradient: short convolutions are differentiated once; write them as a sum of slices where second derivatives are needed}}
  %y, %final = linrec.short_conv silu %x, %w : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> (tensor<1x4x2xf32>, tensor<1x1x2xf32>)
  return %y : tensor<1x4x2xf32>
}
func.func private @df(%x: tensor<1x4x2xf32>, %w: tensor<2x2xf32>, %g: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  %r:2 = ad.vjp @f(%x, %w) cotangents(%g) wrt [0]
      : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> (tensor<1x4x2xf32>, tensor<1x4x2xf32>)
  return %r#1 : tensor<1x4x2xf32>
}
func.func @ddf(%x: tensor<1x4x2xf32>, %w: tensor<2x2xf32>, %g: tensor<1x4x2xf32>, %h: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  // expected-note @below {{while differentiating '@df'}}
  %r:2 = ad.vjp @df(%x, %w, %g) cotangents(%h) wrt [0]
      : (tensor<1x4x2xf32>, tensor<2x2xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x2xf32>, tensor<1x4x2xf32>)
  return %r#1 : tensor<1x4x2xf32>
}
