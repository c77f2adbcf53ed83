// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The second sequence has no token: its state stays as it is.

func.func private @f(%q: tensor<1x3x1x1xf64>, %k: tensor<1x3x1x1xf64>, %v: tensor<1x3x1x1xf64>, %initial: tensor<3x1x1x1xf64>, %starts: tensor<4xi32>) -> (tensor<1x3x1x1xf64>, tensor<3x1x1x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v initial(%initial) starts(%starts)
      : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<3x1x1x1xf64>, tensor<4xi32>) -> (tensor<1x3x1x1xf64>, tensor<3x1x1x1xf64>)
  return %0#0, %0#1 : tensor<1x3x1x1xf64>, tensor<3x1x1x1xf64>
}

func.func @test_f() {
  %q = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %k = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %v = arith.constant dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf64>
  %initial = arith.constant dense<[[[[10.0]]], [[[20.0]]], [[[30.0]]]]> : tensor<3x1x1x1xf64>
  %starts = arith.constant dense<[0, 1, 1, 3]> : tensor<4xi32>
  %r:2 = call @f(%q, %k, %v, %initial, %starts)
      : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<3x1x1x1xf64>, tensor<4xi32>) -> (tensor<1x3x1x1xf64>, tensor<3x1x1x1xf64>)
  %o = arith.constant dense<[[[[11.0]], [[32.0]], [[35.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#0, %o : tensor<1x3x1x1xf64>
  %final = arith.constant dense<[[[[11.0]]], [[[20.0]]], [[[35.0]]]]> : tensor<3x1x1x1xf64>
  check.close %r#1, %final : tensor<3x1x1x1xf64>
  return
}
