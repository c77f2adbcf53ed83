// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three segments, in front of which a state is and behind which one is read:
// both go through all of them, decayed on the way.
func.func @forward(%q: tensor<1x48x1x4xf64>, %k: tensor<1x48x1x4xf64>, %v: tensor<1x48x1x2xf64>, %initial: tensor<1x1x4x2xf64>) -> (tensor<1x48x1x2xf64>, tensor<1x1x4x2xf64>) {
  %g = arith.constant dense<-0.03> : tensor<1x48x1x4xf64>
  %0:2 = linrec.scan %q, %k, %v decay(%g) initial(%initial) {segments = 3 : i64, chunk = 16 : i64}
    : (tensor<1x48x1x4xf64>, tensor<1x48x1x4xf64>, tensor<1x48x1x2xf64>, tensor<1x48x1x4xf64>, tensor<1x1x4x2xf64>)
    -> (tensor<1x48x1x2xf64>, tensor<1x1x4x2xf64>)
  return %0#0, %0#1 : tensor<1x48x1x2xf64>, tensor<1x1x4x2xf64>
}

func.func @gradient(%q: tensor<1x48x1x4xf64>, %k: tensor<1x48x1x4xf64>, %v: tensor<1x48x1x2xf64>, %initial: tensor<1x1x4x2xf64>, %do: tensor<1x48x1x2xf64>, %dfinal: tensor<1x1x4x2xf64>)
    -> (tensor<1x48x1x4xf64>, tensor<1x48x1x4xf64>, tensor<1x48x1x2xf64>, tensor<1x48x1x4xf64>, tensor<1x1x4x2xf64>) {
  %g = arith.constant dense<-0.03> : tensor<1x48x1x4xf64>
  %dq, %dk, %dv, %dg, %di = linrec.scan_bwd %q, %k, %v decay(%g) initial(%initial) cotangents(%do, %dfinal) {segments = 3 : i64, chunk = 16 : i64}
    : (tensor<1x48x1x4xf64>, tensor<1x48x1x4xf64>, tensor<1x48x1x2xf64>, tensor<1x48x1x4xf64>, tensor<1x1x4x2xf64>, tensor<1x48x1x2xf64>, tensor<1x1x4x2xf64>)
    -> (tensor<1x48x1x4xf64>, tensor<1x48x1x4xf64>, tensor<1x48x1x2xf64>, tensor<1x48x1x4xf64>, tensor<1x1x4x2xf64>)
  return %dq, %dk, %dv, %dg, %di : tensor<1x48x1x4xf64>, tensor<1x48x1x4xf64>, tensor<1x48x1x2xf64>, tensor<1x48x1x4xf64>, tensor<1x1x4x2xf64>
}
