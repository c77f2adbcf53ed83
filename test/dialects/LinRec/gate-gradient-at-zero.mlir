// RUN: drawloom-opt %s --differentiate --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Zero is where layers start, in bf16 often also where they pass. The formulas
// have branches there, the functions have none. Both signs.

func.func private @softplus(%x: tensor<1x1x3xf64>) -> tensor<1x1x3xf64> {
  %g = linrec.gate softplus %x : (tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  return %g : tensor<1x1x3xf64>
}
func.func private @log_sigmoid(%x: tensor<1x1x3xf64>) -> tensor<1x1x3xf64> {
  %g = linrec.gate log_sigmoid %x : (tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  return %g : tensor<1x1x3xf64>
}
func.func private @floored(%x: tensor<1x1x3xf64>) -> tensor<1x1x3xf64> {
  %g = linrec.gate floored %x {floor = 0.5} : (tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  return %g : tensor<1x1x3xf64>
}
func.func private @bounded(%x: tensor<1x1x3xf64>) -> tensor<1x1x3xf64> {
  %g = linrec.gate bounded %x {limit = 4.0} : (tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  return %g : tensor<1x1x3xf64>
}

func.func @test_slopes() {
  %x = arith.constant dense<[[[0.0, -0.0, 1.0]]]> : tensor<1x1x3xf64>
  %one = arith.constant dense<1.0> : tensor<1x1x3xf64>
  %a, %da = ad.vjp @softplus(%x) cotangents(%one) wrt [0] : (tensor<1x1x3xf64>) -> (tensor<1x1x3xf64>, tensor<1x1x3xf64>)
  %ea = arith.constant dense<[[[-0.5, -0.5, -0.7310585786300049]]]> : tensor<1x1x3xf64>
  check.close %da, %ea {atol = 1.0e-13} : tensor<1x1x3xf64>
  %b, %db = ad.vjp @log_sigmoid(%x) cotangents(%one) wrt [0] : (tensor<1x1x3xf64>) -> (tensor<1x1x3xf64>, tensor<1x1x3xf64>)
  %eb = arith.constant dense<[[[0.5, 0.5, 0.2689414213699951]]]> : tensor<1x1x3xf64>
  check.close %db, %eb {atol = 1.0e-13} : tensor<1x1x3xf64>
  // (1 - floor) s (1 - s) / (floor + (1 - floor) s)
  %c, %dc = ad.vjp @floored(%x) cotangents(%one) wrt [0] : (tensor<1x1x3xf64>) -> (tensor<1x1x3xf64>, tensor<1x1x3xf64>)
  %ec = arith.constant dense<[[[0.16666666666666667, 0.16666666666666667, 0.11357901787303151]]]> : tensor<1x1x3xf64>
  check.close %dc, %ec {atol = 1.0e-13} : tensor<1x1x3xf64>
  %d, %dd = ad.vjp @bounded(%x) cotangents(%one) wrt [0] : (tensor<1x1x3xf64>) -> (tensor<1x1x3xf64>, tensor<1x1x3xf64>)
  %ed = arith.constant dense<[[[-1.0, -1.0, -0.7864477329659275]]]> : tensor<1x1x3xf64>
  check.close %dd, %ed {atol = 1.0e-13} : tensor<1x1x3xf64>
  return
}
