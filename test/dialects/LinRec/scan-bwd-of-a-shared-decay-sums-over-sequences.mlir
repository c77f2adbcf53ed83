// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decays of 0: the gradient of each is that of the state after it times the state before, 0 at the first token of a sequence.

func.func private @f(%q: tensor<1x3x1x1xf64>, %k: tensor<1x3x1x1xf64>, %v: tensor<1x3x1x1xf64>, %decay: tensor<1xf64>, %starts: tensor<4xi32>, %d_o: tensor<1x3x1x1xf64>) -> (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1xf64>) {
  %0:4 = linrec.scan_bwd %q, %k, %v decay(%decay) starts(%starts) cotangents(%d_o)
      : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1xf64>, tensor<4xi32>, tensor<1x3x1x1xf64>) -> (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1xf64>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1xf64>
}

func.func @test_f() {
  %q = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %k = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %v = arith.constant dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf64>
  %decay = arith.constant dense<[0.0]> : tensor<1xf64>
  %starts = arith.constant dense<[0, 1, 1, 3]> : tensor<4xi32>
  %d_o = arith.constant dense<[[[[1.0]], [[1.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  %r:4 = call @f(%q, %k, %v, %decay, %starts, %d_o)
      : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1xf64>, tensor<4xi32>, tensor<1x3x1x1xf64>) -> (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1xf64>)
  %dq = arith.constant dense<[[[[1.0]], [[2.0]], [[5.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#0, %dq : tensor<1x3x1x1xf64>
  %dk = arith.constant dense<[[[[1.0]], [[4.0]], [[3.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#1, %dk : tensor<1x3x1x1xf64>
  %dv = arith.constant dense<[[[[1.0]], [[2.0]], [[1.0]]]]> : tensor<1x3x1x1xf64>
  check.close %r#2, %dv : tensor<1x3x1x1xf64>
  %dg = arith.constant dense<[2.0]> : tensor<1xf64>
  check.close %r#3, %dg : tensor<1xf64>
  return
}
