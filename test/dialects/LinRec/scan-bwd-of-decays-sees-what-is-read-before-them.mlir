// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// With a bonus a token reads the state before its own decay, and with
// erase_before_decay it erases from that state: this decay gets no gradient from
// what is read there, earlier ones do.
func.func @bonus(%q: tensor<1x32x2x4xf64>, %k: tensor<1x32x2x4xf64>, %v: tensor<1x32x2x3xf64>, %bonus: tensor<2x4xf64>, %do: tensor<1x32x2x3xf64>) -> tensor<1x32x2xf64> {
  %g = arith.constant dense<-0.1> : tensor<1x32x2xf64>
  %dq, %dk, %dv, %dg, %db = linrec.scan_bwd %q, %k, %v decay(%g) bonus(%bonus) cotangents(%do) {chunk = 16 : i64}
    : (tensor<1x32x2x4xf64>, tensor<1x32x2x4xf64>, tensor<1x32x2x3xf64>, tensor<1x32x2xf64>, tensor<2x4xf64>, tensor<1x32x2x3xf64>)
    -> (tensor<1x32x2x4xf64>, tensor<1x32x2x4xf64>, tensor<1x32x2x3xf64>, tensor<1x32x2xf64>, tensor<2x4xf64>)
  return %dg : tensor<1x32x2xf64>
}

func.func @beta(%q: tensor<1x32x2x4xf64>, %k0: tensor<1x32x2x4xf64>, %v: tensor<1x32x2x3xf64>, %beta: tensor<1x32x2xf64>, %do: tensor<1x32x2x3xf64>) -> tensor<1x32x2xf64> {
  %g = arith.constant dense<-0.1> : tensor<1x32x2xf64>
  %half = arith.constant dense<0.5> : tensor<1x32x2x4xf64>
  %k = arith.mulf %k0, %half : tensor<1x32x2x4xf64>
  %dq, %dk, %dv, %dg, %db = linrec.scan_bwd %q, %k, %v decay(%g) beta(%beta) cotangents(%do) {chunk = 16 : i64, erase_before_decay}
    : (tensor<1x32x2x4xf64>, tensor<1x32x2x4xf64>, tensor<1x32x2x3xf64>, tensor<1x32x2xf64>, tensor<1x32x2xf64>, tensor<1x32x2x3xf64>)
    -> (tensor<1x32x2x4xf64>, tensor<1x32x2x4xf64>, tensor<1x32x2x3xf64>, tensor<1x32x2xf64>, tensor<1x32x2xf64>)
  return %dg : tensor<1x32x2xf64>
}
