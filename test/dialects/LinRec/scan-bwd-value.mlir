// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The states are 8, 7, 4.5; their gradients, from the last, 3, 2.5, 1.25, or without d_final 2, 2, 1.

func.func private @both(%q: tensor<1x2x1x1xf64>, %k: tensor<1x2x1x1xf64>, %v: tensor<1x2x1x1xf64>, %decay: tensor<1x2x1xf64>, %initial: tensor<1x1x1x1xf64>, %d_o: tensor<1x2x1x1xf64>, %d_final: tensor<1x1x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>) {
  %0:5 = linrec.scan_bwd %q, %k, %v decay(%decay) initial(%initial) cotangents(%d_o, %d_final) {scale = 1.0}
      : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>
}

func.func @test_both() {
  %q = arith.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf64>
  %k = arith.constant dense<[[[[1.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[3.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %decay = arith.constant dense<[[[-0.6931471805599453], [-0.6931471805599453]]]> : tensor<1x2x1xf64>
  %initial = arith.constant dense<[[[[8.0]]]]> : tensor<1x1x1x1xf64>
  %d_o = arith.constant dense<[[[[1.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %d_final = arith.constant dense<[[[[1.0]]]]> : tensor<1x1x1x1xf64>
  %r:5 = call @both(%q, %k, %v, %decay, %initial, %d_o, %d_final)
      : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x1x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>)
  %dq = arith.constant dense<[[[[7.0]], [[4.5]]]]> : tensor<1x2x1x1xf64>
  check.close %r#0, %dq : tensor<1x2x1x1xf64>
  %dk = arith.constant dense<[[[[7.5]], [[3.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#1, %dk : tensor<1x2x1x1xf64>
  %dv = arith.constant dense<[[[[2.5]], [[3.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#2, %dv : tensor<1x2x1x1xf64>
  %dg = arith.constant dense<[[[10.0], [10.5]]]> : tensor<1x2x1xf64>
  check.close %r#3, %dg : tensor<1x2x1xf64>
  %d_initial = arith.constant dense<[[[[1.25]]]]> : tensor<1x1x1x1xf64>
  check.close %r#4, %d_initial : tensor<1x1x1x1xf64>
  return
}

func.func private @outputs_alone(%q: tensor<1x2x1x1xf64>, %k: tensor<1x2x1x1xf64>, %v: tensor<1x2x1x1xf64>, %decay: tensor<1x2x1xf64>, %initial: tensor<1x1x1x1xf64>, %d_o: tensor<1x2x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>) {
  %0:5 = linrec.scan_bwd %q, %k, %v decay(%decay) initial(%initial) cotangents(%d_o) {scale = 1.0}
      : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>
}

func.func @test_outputs_alone() {
  %q = arith.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf64>
  %k = arith.constant dense<[[[[1.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[3.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %decay = arith.constant dense<[[[-0.6931471805599453], [-0.6931471805599453]]]> : tensor<1x2x1xf64>
  %initial = arith.constant dense<[[[[8.0]]]]> : tensor<1x1x1x1xf64>
  %d_o = arith.constant dense<[[[[1.0]], [[1.0]]]]> : tensor<1x2x1x1xf64>
  %r:5 = call @outputs_alone(%q, %k, %v, %decay, %initial, %d_o)
      : (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>) -> (tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1xf64>, tensor<1x1x1x1xf64>)
  %dq = arith.constant dense<[[[[7.0]], [[4.5]]]]> : tensor<1x2x1x1xf64>
  check.close %r#0, %dq : tensor<1x2x1x1xf64>
  %dk = arith.constant dense<[[[[6.0]], [[2.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#1, %dk : tensor<1x2x1x1xf64>
  %dv = arith.constant dense<[[[[2.0]], [[2.0]]]]> : tensor<1x2x1x1xf64>
  check.close %r#2, %dv : tensor<1x2x1x1xf64>
  %dg = arith.constant dense<[[[8.0], [7.0]]]> : tensor<1x2x1xf64>
  check.close %r#3, %dg : tensor<1x2x1xf64>
  %d_initial = arith.constant dense<[[[[1.0]]]]> : tensor<1x1x1x1xf64>
  check.close %r#4, %d_initial : tensor<1x1x1x1xf64>
  return
}
