// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// k S = 2.2, or 1.1 after the decay of 1/2.

func.func private @plain(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %beta: tensor<1x1x1xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v beta(%beta) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_plain() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.6, 0.8]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[2.0]]]]> : tensor<1x1x1x1xf64>
  %beta = arith.constant dense<[[[0.5]]]> : tensor<1x1x1xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @plain(%q, %k, %v, %beta, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[0.94]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[0.94], [1.92]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}

func.func private @after_decay(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1xf64>, %beta: tensor<1x1x1xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) beta(%beta) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_after_decay() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.6, 0.8]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[2.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[-0.6931471805599453]]]> : tensor<1x1x1xf64>
  %beta = arith.constant dense<[[[0.5]]]> : tensor<1x1x1xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @after_decay(%q, %k, %v, %decay, %beta, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[0.77]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[0.77], [1.36]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}

func.func private @before_decay(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1xf64>, %beta: tensor<1x1x1xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) beta(%beta) initial(%initial) {scale = 1.0, erase_before_decay}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_before_decay() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.6, 0.8]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[2.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[-0.6931471805599453]]]> : tensor<1x1x1xf64>
  %beta = arith.constant dense<[[[0.5]]]> : tensor<1x1x1xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @before_decay(%q, %k, %v, %decay, %beta, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[0.44]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[0.44], [0.92]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}
