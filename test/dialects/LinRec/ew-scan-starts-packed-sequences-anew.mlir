// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func private @packed(%x: tensor<1x3x1xf64>, %g: tensor<1x3x1xf64>, %initial: tensor<3x1xf64>, %starts: tensor<4xi64>) -> (tensor<1x3x1xf64>, tensor<3x1xf64>) {
  %0:2 = linrec.ew_scan %x decay(%g) initial(%initial) starts(%starts) : (tensor<1x3x1xf64>, tensor<1x3x1xf64>, tensor<3x1xf64>, tensor<4xi64>) -> (tensor<1x3x1xf64>, tensor<3x1xf64>)
  return %0#0, %0#1 : tensor<1x3x1xf64>, tensor<3x1xf64>
}

func.func @test_packed() {
  %x = arith.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf64>
  %g = arith.constant dense<0.0> : tensor<1x3x1xf64>
  %initial = arith.constant dense<[[10.0], [20.0], [30.0]]> : tensor<3x1xf64>
  // The second sequence is empty.
  %starts = arith.constant dense<[0, 2, 2, 3]> : tensor<4xi64>
  %r:2 = call @packed(%x, %g, %initial, %starts) : (tensor<1x3x1xf64>, tensor<1x3x1xf64>, tensor<3x1xf64>, tensor<4xi64>) -> (tensor<1x3x1xf64>, tensor<3x1xf64>)
  %y = arith.constant dense<[[[11.0], [13.0], [33.0]]]> : tensor<1x3x1xf64>
  check.close %r#0, %y : tensor<1x3x1xf64>
  %final = arith.constant dense<[[13.0], [20.0], [33.0]]> : tensor<3x1xf64>
  check.close %r#1, %final : tensor<3x1xf64>
  return
}
