// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func private @step(%q: tensor<1x1x2xf64>, %k: tensor<1x1x2xf64>, %v: tensor<1x1x2xf64>, %decay: tensor<1x1xf64>, %beta: tensor<1x1xf64>, %state: tensor<1x1x2x2xf64>) -> (tensor<1x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.step %q, %k, %v decay(%decay) beta(%beta) state(%state) {scale = 1.0}
      : (tensor<1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x1x2xf64>, tensor<1x1x2x2xf64>
}

// The state decays to [[4, 2], [1, 8]]; of its first row, [4, 2], half is replaced by
// half of v, [10, 20].
func.func @test_step() {
  %q = arith.constant dense<[[[1.0, 1.0]]]> : tensor<1x1x2xf64>
  %k = arith.constant dense<[[[1.0, 0.0]]]> : tensor<1x1x2xf64>
  %v = arith.constant dense<[[[10.0, 20.0]]]> : tensor<1x1x2xf64>
  %decay = arith.constant dense<-0.6931471805599453> : tensor<1x1xf64>
  %beta = arith.constant dense<0.5> : tensor<1x1xf64>
  %state = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  %r:2 = call @step(%q, %k, %v, %decay, %beta, %state)
      : (tensor<1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[8.0, 19.0]]]> : tensor<1x1x2xf64>
  check.close %r#0, %o : tensor<1x1x2xf64>
  %next = arith.constant dense<[[[[7.0, 11.0], [1.0, 8.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %next : tensor<1x1x2x2xf64>
  return
}
