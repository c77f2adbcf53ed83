// RUN: drawloom-opt %s -split-input-file --interpret-checks -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @test() {
  %q = arith.constant dense<1.0> : tensor<1x3x1x2xf32>
  %v = arith.constant dense<1.0> : tensor<1x3x1x1xf32>
  %starts = arith.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
  // expected-error @below {{starts must not decrease, but entry 2 is 1 after 2}}
  %0:2 = linrec.scan %q, %q, %v starts(%starts)
      : (tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x1xf32>, tensor<4xi32>) -> (tensor<1x3x1x1xf32>, tensor<3x1x2x1xf32>)
  check.close %0#0, %0#0 : tensor<1x3x1x1xf32>
  return
}

// -----

func.func @test() {
  %q = arith.constant dense<1.0> : tensor<1x3x1x2xf32>
  %v = arith.constant dense<1.0> : tensor<1x3x1x1xf32>
  %starts = arith.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
  // expected-error @below {{starts must not decrease, but entry 2 is 1 after 2}}
  %0:3 = linrec.scan_bwd %q, %q, %v starts(%starts) cotangents(%v)
      : (tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x1xf32>, tensor<4xi32>, tensor<1x3x1x1xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x1xf32>)
  check.close %0#0, %0#0 : tensor<1x3x1x2xf32>
  return
}
