// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%q: tensor<1x2x1x2xf64>, %k: tensor<1x2x1x2xf64>, %v: tensor<1x2x1x2xf64>) -> (tensor<1x2x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.scan %q, %k, %v {scale = 1.0}
      : (tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>) -> (tensor<1x2x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x2x1x2xf64>, tensor<1x1x2x2xf64>
}

func.func @test_f() {
  %q = arith.constant dense<[[[[1.0, 0.0]], [[1.0, 1.0]]]]> : tensor<1x2x1x2xf64>
  %k = arith.constant dense<[[[[1.0, 2.0]], [[0.0, 1.0]]]]> : tensor<1x2x1x2xf64>
  %v = arith.constant dense<[[[[1.0, 3.0]], [[2.0, -1.0]]]]> : tensor<1x2x1x2xf64>
  %r:2 = call @f(%q, %k, %v)
      : (tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>) -> (tensor<1x2x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[[1.0, 3.0]], [[5.0, 8.0]]]]> : tensor<1x2x1x2xf64>
  check.close %r#0, %o : tensor<1x2x1x2xf64>
  %final = arith.constant dense<[[[[1.0, 3.0], [4.0, 5.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %final : tensor<1x1x2x2xf64>
  return
}
