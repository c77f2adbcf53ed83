// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


// Factors are 1/2, and 1 where a decay is positive.

func.func private @channels(%x: tensor<1x3x2xf64>, %g: tensor<1x3x2xf64>, %initial: tensor<1x2xf64>) -> (tensor<1x3x2xf64>, tensor<1x2xf64>) {
  %0:2 = linrec.ew_scan %x decay(%g) initial(%initial) : (tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x2xf64>) -> (tensor<1x3x2xf64>, tensor<1x2xf64>)
  return %0#0, %0#1 : tensor<1x3x2xf64>, tensor<1x2xf64>
}

func.func @test_channels() {
  %x = arith.constant dense<[[[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]]> : tensor<1x3x2xf64>
  %g = arith.constant dense<[[[-0.6931471805599453, 0.0], [-0.6931471805599453, -0.6931471805599453], [1.0, 0.0]]]> : tensor<1x3x2xf64>
  %initial = arith.constant dense<[[2.0, 8.0]]> : tensor<1x2xf64>
  %r:2 = call @channels(%x, %g, %initial) : (tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x2xf64>) -> (tensor<1x3x2xf64>, tensor<1x2xf64>)
  %y = arith.constant dense<[[[2.0, 8.0], [3.0, 5.0], [3.0, 8.0]]]> : tensor<1x3x2xf64>
  check.close %r#0, %y : tensor<1x3x2xf64>
  %final = arith.constant dense<[[3.0, 8.0]]> : tensor<1x2xf64>
  check.close %r#1, %final : tensor<1x2xf64>
  return
}

// One channel of two numbers, which decay by 1/2 and by 1/4 in a unit of time.
func.func private @selective(%x: tensor<1x2x1xf64>, %time: tensor<1x2x1xf64>, %rates: tensor<1x2xf64>, %b: tensor<1x2x2xf64>, %c: tensor<1x2x2xf64>) -> (tensor<1x2x1xf64>, tensor<1x1x2xf64>) {
  %0:2 = linrec.ew_scan %x decay(%time) rates(%rates) write(%b) read(%c) : (tensor<1x2x1xf64>, tensor<1x2x1xf64>, tensor<1x2xf64>, tensor<1x2x2xf64>, tensor<1x2x2xf64>) -> (tensor<1x2x1xf64>, tensor<1x1x2xf64>)
  return %0#0, %0#1 : tensor<1x2x1xf64>, tensor<1x1x2xf64>
}

func.func @test_selective() {
  %x = arith.constant dense<[[[2.0], [1.0]]]> : tensor<1x2x1xf64>
  %time = arith.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf64>
  %rates = arith.constant dense<[[-0.6931471805599453, -1.3862943611198906]]> : tensor<1x2xf64>
  %b = arith.constant dense<[[[4.0, 8.0], [1.0, 0.0]]]> : tensor<1x2x2xf64>
  %c = arith.constant dense<[[[1.0, 1.0], [1.0, 10.0]]]> : tensor<1x2x2xf64>
  %r:2 = call @selective(%x, %time, %rates, %b, %c) : (tensor<1x2x1xf64>, tensor<1x2x1xf64>, tensor<1x2xf64>, tensor<1x2x2xf64>, tensor<1x2x2xf64>) -> (tensor<1x2x1xf64>, tensor<1x1x2xf64>)
  // The states are [8, 16], then [8/4 + 1, 16/16].
  %y = arith.constant dense<[[[24.0], [13.0]]]> : tensor<1x2x1xf64>
  check.close %r#0, %y : tensor<1x2x1xf64>
  %final = arith.constant dense<[[[3.0, 1.0]]]> : tensor<1x1x2xf64>
  check.close %r#1, %final : tensor<1x1x2xf64>
  return
}
