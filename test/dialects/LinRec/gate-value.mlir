// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @test_log_sigmoid() {
  %x = arith.constant dense<[[[-800.0, -1.0, 0.0, 2.0, 0x7FF8000000000000]]]> : tensor<1x1x5xf64>
  %g = linrec.gate log_sigmoid %x {temperature = 2.0} : (tensor<1x1x5xf64>) -> tensor<1x1x5xf64>
  %expected = arith.constant dense<[[[-400.0, -0.65663084351119, -0.34657359027997, -0.06346400552148, 0x7FF8000000000000]]]> : tensor<1x1x5xf64>
  check.close %g, %expected {atol = 1.0e-13, equal_nan} : tensor<1x1x5xf64>
  return
}

func.func @test_softplus() {
  %x = arith.constant dense<[[[-40.0, 1.0], [900.0, -1.0]]]> : tensor<1x2x2xf64>
  %scale = arith.constant dense<[0.0, 0.6931471805599453]> : tensor<2xf64>
  %bias = arith.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %g = linrec.gate softplus %x scale(%scale) bias(%bias) : (tensor<1x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<1x2x2xf64>
  %expected = arith.constant dense<[[[-4.248354255291589e-18, -4.253856022085945], [-900.0, -1.38629436111989]]]> : tensor<1x2x2xf64>
  check.close %g, %expected {atol = 0.0, rtol = 1.0e-13} : tensor<1x2x2xf64>
  return
}

func.func @test_bounded() {
  %x = arith.constant dense<[[[[-900.0, 0.0]], [[900.0, 1.0]]]]> : tensor<1x2x1x2xf64>
  %scale = arith.constant dense<0.6931471805599453> : tensor<1xf64>
  %bias = arith.constant dense<[[0.0, 1.0]]> : tensor<1x2xf64>
  %g = linrec.gate bounded %x scale(%scale) bias(%bias) {limit = 5.0} : (tensor<1x2x1x2xf64>, tensor<1xf64>, tensor<1x2xf64>) -> tensor<1x2x1x2xf64>
  %expected = arith.constant dense<[[[[0.0, -4.40398538988941]], [[-5.0, -4.91006895018796]]]]> : tensor<1x2x1x2xf64>
  check.close %g, %expected {atol = 1.0e-13} : tensor<1x2x1x2xf64>
  return
}

func.func @test_floored() {
  %x = arith.constant dense<[[[-900.0, 0.0, 900.0]]]> : tensor<1x1x3xf64>
  %g = linrec.gate floored %x {floor = 0.25} : (tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  %expected = arith.constant dense<[[[-1.38629436111989, -0.47000362924574, 0.0]]]> : tensor<1x1x3xf64>
  check.close %g, %expected {atol = 1.0e-13} : tensor<1x1x3xf64>
  // Without a floor nothing rounds to the logarithm of 0.
  %h = linrec.gate floored %x {floor = 0.0} : (tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  %without = arith.constant dense<[[[-900.0, -0.69314718055995, 0.0]]]> : tensor<1x1x3xf64>
  check.close %h, %without {atol = 1.0e-13} : tensor<1x1x3xf64>
  return
}
