// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @constant(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x2xf64>, %decay: tensor<1xf64>, %initial: tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>
}

func.func @test_constant() {
  %q = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %decay = arith.constant dense<[3.0]> : tensor<1xf64>
  %initial = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  %r:2 = call @constant(%q, %k, %v, %decay, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[[10.0, 20.0]]]]> : tensor<1x1x1x2xf64>
  check.close %r#0, %o : tensor<1x1x1x2xf64>
  %final = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %final : tensor<1x1x2x2xf64>
  return
}

func.func private @scalar(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x2xf64>, %decay: tensor<1x1x1xf64>, %initial: tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>
}

func.func @test_scalar() {
  %q = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %decay = arith.constant dense<[[[3.0]]]> : tensor<1x1x1xf64>
  %initial = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  %r:2 = call @scalar(%q, %k, %v, %decay, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[[10.0, 20.0]]]]> : tensor<1x1x1x2xf64>
  check.close %r#0, %o : tensor<1x1x1x2xf64>
  %final = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %final : tensor<1x1x2x2xf64>
  return
}

func.func private @keys(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x2xf64>, %decay: tensor<1x1x1x2xf64>, %initial: tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) initial(%initial) {scale = 1.0}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>
}

func.func @test_keys() {
  %q = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %decay = arith.constant dense<[[[[-0.6931471805599453, 3.0]]]]> : tensor<1x1x1x2xf64>
  %initial = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  %r:2 = call @keys(%q, %k, %v, %decay, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[[6.0, 18.0]]]]> : tensor<1x1x1x2xf64>
  check.close %r#0, %o : tensor<1x1x1x2xf64>
  %final = arith.constant dense<[[[[4.0, 2.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %final : tensor<1x1x2x2xf64>
  return
}

func.func private @values(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x2xf64>, %decay: tensor<1x1x1x2xf64>, %initial: tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%decay) initial(%initial) {scale = 1.0, decay_along_values}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>
}

func.func @test_values() {
  %q = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %decay = arith.constant dense<[[[[3.0, -1.3862943611198906]]]]> : tensor<1x1x1x2xf64>
  %initial = arith.constant dense<[[[[8.0, 4.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  %r:2 = call @values(%q, %k, %v, %decay, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[[10.0, 5.0]]]]> : tensor<1x1x1x2xf64>
  check.close %r#0, %o : tensor<1x1x1x2xf64>
  %final = arith.constant dense<[[[[8.0, 1.0], [2.0, 4.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %final : tensor<1x1x2x2xf64>
  return
}
