// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --fuse-into-blocks --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is copied, and sums of small integers, are exact: no tolerance. Sums of four products of numbers below 10 and SiLU round in float64 by
// some 10^-15: 10^-13.

// Three packed sequences, the second of which is empty.
func.func @test_packed() {
  %x = arith.constant dense<[[[1.0, -2.0], [3.0, 0.5], [-1.0, 4.0], [2.0, -0.5], [0.25, 1.0]]]> : tensor<1x5x2xf64>
  %w = arith.constant dense<[[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]> : tensor<2x3xf64>
  %b = arith.constant dense<[0.125, -0.25]> : tensor<2xf64>
  %initial = arith.constant dense<[[[-1.0, 0.5], [2.0, -3.0]], [[7.0, 8.0], [9.0, 10.0]], [[0.5, 1.0], [-0.25, -2.0]]]> : tensor<3x2x2xf64>
  %starts = arith.constant dense<[0, 2, 2, 5]> : tensor<4xi32>
  %y, %final = linrec.short_conv none %x, %w bias(%b) initial(%initial) starts(%starts)
      : (tensor<1x5x2xf64>, tensor<2x3xf64>, tensor<2xf64>, tensor<3x2x2xf64>, tensor<4xi32>) -> (tensor<1x5x2xf64>, tensor<3x2x2xf64>)
  %expected = arith.constant dense<[[[-0.375, 0.75], [6.125, -5.5], [-1.375, -1.25], [5.0, -2.0], [-1.875, 5.125]]]> : tensor<1x5x2xf64>
  check.close %y, %expected {atol = 1.0e-13} : tensor<1x5x2xf64>
  %last = arith.constant dense<[[[1.0, -2.0], [3.0, 0.5]], [[7.0, 8.0], [9.0, 10.0]], [[2.0, -0.5], [0.25, 1.0]]]> : tensor<3x2x2xf64>
  check.close %final, %last {atol = 0.0} : tensor<3x2x2xf64>
  %z, %same = linrec.short_conv silu %x, %w bias(%b) initial(%initial) starts(%starts)
      : (tensor<1x5x2xf64>, tensor<2x3xf64>, tensor<2xf64>, tensor<3x2x2xf64>, tensor<4xi32>) -> (tensor<1x5x2xf64>, tensor<3x2x2xf64>)
  %activated = arith.constant dense<[[[-0.15275002501722384, 0.5093840243815447], [6.111630861772261, -0.0223857574374287], [-0.2774931806080209, -0.27837517353163604], [4.966535745378576, -0.2384058440442351], [-0.24930795037092984, 5.09470577211175]]]> : tensor<1x5x2xf64>
  check.close %z, %activated {atol = 1.0e-13} : tensor<1x5x2xf64>
  return
}

// A token and what is in front of it, of two heads.
func.func @test_heads() {
  %x = arith.constant dense<[[[[1.0], [2.0]]], [[[3.0], [4.0]]]]> : tensor<2x1x2x1xf64>
  %w = arith.constant dense<[[[10.0, 1.0]], [[20.0, 2.0]]]> : tensor<2x1x2xf64>
  %initial = arith.constant dense<[[[[5.0], [6.0]]], [[[7.0], [8.0]]]]> : tensor<2x1x2x1xf64>
  %y, %final = linrec.short_conv none %x, %w initial(%initial)
      : (tensor<2x1x2x1xf64>, tensor<2x1x2xf64>, tensor<2x1x2x1xf64>) -> (tensor<2x1x2x1xf64>, tensor<2x1x2x1xf64>)
  %expected = arith.constant dense<[[[[51.0], [124.0]]], [[[73.0], [168.0]]]]> : tensor<2x1x2x1xf64>
  check.close %y, %expected {atol = 0.0} : tensor<2x1x2x1xf64>
  check.close %final, %x {atol = 0.0} : tensor<2x1x2x1xf64>
  return
}
