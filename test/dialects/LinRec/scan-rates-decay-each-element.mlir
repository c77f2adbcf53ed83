// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


// The factors are exp(-ln 2 t) with t the product of rate and time, and 1 for the
// rate that would let the state grow.

func.func private @rates(%q: tensor<1x1x1x2xf64>, %k: tensor<1x1x1x2xf64>, %v: tensor<1x1x1x2xf64>, %time: tensor<1x1x1x2xf64>, %rates: tensor<1x2x2xf64>, %initial: tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>) {
  %0:2 = linrec.scan %q, %k, %v decay(%time) rates(%rates) initial(%initial) {scale = 1.0, decay_along_values}
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x2x2xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  return %0#0, %0#1 : tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>
}

func.func @test_rates() {
  %q = arith.constant dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf64>
  %k = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %v = arith.constant dense<[[[[0.0, 0.0]]]]> : tensor<1x1x1x2xf64>
  %time = arith.constant dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf64>
  %rates = arith.constant dense<[[[-0.6931471805599453, -0.6931471805599453], [-1.3862943611198906, 0.6931471805599453]]]> : tensor<1x2x2xf64>
  %initial = arith.constant dense<[[[[8.0, 4.0], [8.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  %r:2 = call @rates(%q, %k, %v, %time, %rates, %initial)
      : (tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x1x1x2xf64>, tensor<1x2x2xf64>, tensor<1x1x2x2xf64>) -> (tensor<1x1x1x2xf64>, tensor<1x1x2x2xf64>)
  %o = arith.constant dense<[[[[6.0, 17.0]]]]> : tensor<1x1x1x2xf64>
  check.close %r#0, %o : tensor<1x1x1x2xf64>
  %final = arith.constant dense<[[[[4.0, 1.0], [2.0, 16.0]]]]> : tensor<1x1x2x2xf64>
  check.close %r#1, %final : tensor<1x1x2x2xf64>
  return
}
