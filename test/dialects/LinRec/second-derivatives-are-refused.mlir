// RUN: drawloom-opt %s --differentiate -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: tensor<1x4x1x2xf32>) -> tensor<1x4x1x2xf32> {
  // expected-error @below {{has no gradient: linear recurrences are differentiated once; write the recurrence as a loop over tokens where second derivatives are needed}}
  %o, %final = linrec.scan %x, %x, %x : (tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>)
      -> (tensor<1x4x1x2xf32>, tensor<1x1x2x2xf32>)
  return %o : tensor<1x4x1x2xf32>
}
func.func private @df(%x: tensor<1x4x1x2xf32>, %g: tensor<1x4x1x2xf32>) -> tensor<1x4x1x2xf32> {
  %r:2 = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (tensor<1x4x1x2xf32>) -> (tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>)
  return %r#1 : tensor<1x4x1x2xf32>
}
func.func @ddf(%x: tensor<1x4x1x2xf32>, %g: tensor<1x4x1x2xf32>, %h: tensor<1x4x1x2xf32>) -> tensor<1x4x1x2xf32> {
  // expected-note @below {{while differentiating '@df'}}
  %r:2 = ad.vjp @df(%x, %g) cotangents(%h) wrt [0]
      : (tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>) -> (tensor<1x4x1x2xf32>, tensor<1x4x1x2xf32>)
  return %r#1 : tensor<1x4x1x2xf32>
}
