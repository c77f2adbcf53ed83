// RUN: %for_each T=0,1,4 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<2x$Tx2x3xf64>, %bias: tensor<2x3xf64>) -> (tensor<2x$Tx2x3xf64>) {
  %r:1 = linrec.gate log_sigmoid %x bias(%bias) {temperature = 16.0 : f64} : (tensor<2x$Tx2x3xf64>, tensor<2x3xf64>) -> (tensor<2x$Tx2x3xf64>)
  return %r#0 : tensor<2x$Tx2x3xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1] in [-3.0, 3.0]
  return
}
