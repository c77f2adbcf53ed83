// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradient of the state is 1/2 before the second token, whose factor is 1/2.

func.func private @f(%q: tensor<1x2x1x1xf64>, %k: tensor<1x2x1x1xf64>, %v: tensor<1x2x1x1xf64>, %decay: tensor<1x2x1xf64>, %initial: tensor<1x1x1x1xf64>, %d_o: tensor<1x2x1x1xf64>, %d_final: tensor<1x1x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>) {
  %0:5 = linrec.scan_bwd %q, %k, %v decay(%decay) initial(%initial) cotangents(%d_o, %d_final) {scale = 1.0}
      : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>
}

func.func @test_f() {
  %q = arith.constant dense<[[[[0.0]], [[0.0]]]]> : tensor<1x2x1x1xf64>
  %k = arith.constant dense<[[[[1.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[0.0]]]]> : tensor<1x2x1x1xf64>
  %decay = arith.constant dense<[[[3.0], [-0.6931471805599453]]]> : tensor<1x2x1xf64>
  %initial = arith.constant dense<[[[[8.0]]]]> : tensor<1x1x1x1xf64>
  %d_o = arith.constant dense<[[[[1.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %d_final = arith.constant dense<[[[[1.0]]]]> : tensor<1x1x1x1xf64>
  %r:5 = call @f(%q, %k, %v, %decay, %initial, %d_o, %d_final)
      : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>)
  %dq = arith.constant dense<[[[[8.0]], [[4.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#0, %dq : tensor<1x2x1x1xf64>
  %dk = arith.constant dense<[[[[0.0]], [[0.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#1, %dk : tensor<1x2x1x1xf64>
  %dv = arith.constant dense<[[[[0.5]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#2, %dv : tensor<1x2x1x1xf64>
  %dg = arith.constant dense<[[[0.0], [4.0]]]> : tensor<1x2x1xf64>
  check.close %r#3, %dg : tensor<1x2x1xf64>
  %d_initial = arith.constant dense<[[[[0.5]]]]> : tensor<1x1x1x1xf64>
  check.close %r#4, %d_initial : tensor<1x1x1x1xf64>
  return
}
