// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The decayed state is [1/2, 1/2]; erase reads 1 off it, and 3 off the state before.

func.func private @tied(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1x2xf64>, %erase: tensor<1x1x1x2xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) erase(%erase) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_tied() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[10.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[[-0.6931471805599453, -1.3862943611198906]]]]> : tensor<1x1x1x2xf64>
  %erase = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @tied(%q, %k, %v, %decay, %erase, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[9.5]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[9.5], [9.5]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}

func.func private @tied_before_decay(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1x2xf64>, %erase: tensor<1x1x1x2xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) erase(%erase) initial(%initial) {scale = 1.0, erase_before_decay}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_tied_before_decay() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[10.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[[-0.6931471805599453, -1.3862943611198906]]]]> : tensor<1x1x1x2xf64>
  %erase = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @tied_before_decay(%q, %k, %v, %decay, %erase, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[7.5]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[7.5], [7.5]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}

func.func private @lowrank(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1x2xf64>, %erase: tensor<1x1x1x2xf64>, %lowrank: tensor<1x1x1x2xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) erase(%erase) lowrank(%lowrank) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_lowrank() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[10.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[[-0.6931471805599453, -1.3862943611198906]]]]> : tensor<1x1x1x2xf64>
  %erase = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %lowrank = arith.constant dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @lowrank(%q, %k, %v, %decay, %erase, %lowrank, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[12.5]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[12.5], [13.5]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}

func.func private @lowrank_before_decay(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x1xf64>, %decay: tensor<1x1x1x2xf64>, %erase: tensor<1x1x1x2xf64>, %lowrank: tensor<1x1x1x2xf64>, %initial: tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) erase(%erase) lowrank(%lowrank) initial(%initial) {scale = 1.0, erase_before_decay}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  return %0#0, %0#1 : tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>
}

func.func @test_lowrank_before_decay() {
  %q = arith.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[10.0]]]]> : tensor<1x1x1x1xf64>
  %decay = arith.constant dense<[[[[-0.6931471805599453, -1.3862943611198906]]]]> : tensor<1x1x1x2xf64>
  %erase = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %lowrank = arith.constant dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %r:2 = call @lowrank_before_decay(%q, %k, %v, %decay, %erase, %lowrank, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x1xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x1xf64>) -> (tensor<1x1x1x1xf64>, tensor<1x1x2x1xf64>)
  %o = arith.constant dense<[[[[16.5]]]]> : tensor<1x1x1x1xf64>
  check.close %r#0, %o : tensor<1x1x1x1xf64>
  %final = arith.constant dense<[[[[16.5], [19.5]]]]> : tensor<1x1x2x1xf64>
  check.close %r#1, %final : tensor<1x1x2x1xf64>
  return
}
