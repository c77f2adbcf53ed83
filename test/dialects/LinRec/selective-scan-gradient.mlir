// RUN: %for_each T=0,1,4 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<2x$Tx4xf64>, %decay: tensor<2x$Tx4xf64>, %rates: tensor<4x3xf64>, %write: tensor<2x$Tx3xf64>, %read: tensor<2x$Tx3xf64>, %initial: tensor<2x4x3xf64>) -> (tensor<2x$Tx4xf64>, tensor<2x4x3xf64>) {
  %r:2 = linrec.ew_scan %x decay(%decay) rates(%rates) write(%write) read(%read) initial(%initial) : (tensor<2x$Tx4xf64>, tensor<2x$Tx4xf64>, tensor<4x3xf64>, tensor<2x$Tx3xf64>, tensor<2x$Tx3xf64>, tensor<2x4x3xf64>) -> (tensor<2x$Tx4xf64>, tensor<2x4x3xf64>)
  return %r#0, %r#1 : tensor<2x$Tx4xf64>, tensor<2x4x3xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2, 3, 4, 5] {order = 1}
  return
}
