// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// o = q S + (sum_d q_d u_d k_d) v = 12 + 16 * 4

func.func private @f(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1x2xf64>, %bonus: tensor<1x2xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) bonus(%bonus) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_f() {
  %q = arith.constant dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[3.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[4.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[[-0.6931471805599453, -1.3862943611198906]]]]> : tensor<1x1x1x2xf64>
  %bonus = arith.constant dense<[[2.0, 5.0]]> : tensor<1x2xf64>
  %initial = arith.constant dense<[[[[8.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @f(%q, %k, %v, %decay, %bonus, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[76.0]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[16.0], [4.5]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}
