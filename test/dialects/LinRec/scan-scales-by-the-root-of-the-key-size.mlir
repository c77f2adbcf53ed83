// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @standard(%q: tensor<1x1x1x4xf64>, %k: tensor<1x1x1x4xf64>, %v: tensor<1x1x1x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<1x1x1x4xf64>, tensor<1x1x1x4xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>
}

func.func @test_standard() {
  %q = arith.constant dense<[[[[1.0, 1.0, 1.0, 1.0]]]]> : tensor<1x1x1x4xf64>
  %k = arith.constant dense<[[[[1.0, 1.0, 1.0, 1.0]]]]> : tensor<1x1x1x4xf64>
  %v = arith.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf64>
  %r:2 = call @standard(%q, %k, %v)
      : (tensor<1x1x1x4xf64>, tensor<1x1x1x4xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>)
  %o = arith.constant dense<[[[[6.0]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[3.0], [3.0], [3.0], [3.0]]]]> : tensor<1x1x4x1xf64>
  check.close %r#1, %final : tensor<1x1x4x1xf64>
  return
}

func.func private @given(%q: tensor<1x1x1x4xf64>, %k: tensor<1x1x1x4xf64>, %v: tensor<1x1x1x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v {scale = -2.0}
      : (tensor<1x1x1x4xf64>, tensor<1x1x1x4xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>
}

func.func @test_given() {
  %q = arith.constant dense<[[[[1.0, 1.0, 1.0, 1.0]]]]> : tensor<1x1x1x4xf64>
  %k = arith.constant dense<[[[[1.0, 1.0, 1.0, 1.0]]]]> : tensor<1x1x1x4xf64>
  %v = arith.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf64>
  %r:2 = call @given(%q, %k, %v)
      : (tensor<1x1x1x4xf64>, tensor<1x1x1x4xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>)
  %o = arith.constant dense<[[[[-24.0]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[3.0], [3.0], [3.0], [3.0]]]]> : tensor<1x1x4x1xf64>
  check.close %r#1, %final : tensor<1x1x4x1xf64>
  return
}
