// RUN: %for_each T=0,1,4 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%q: tensor<2x$Tx2x3xf64>, %k: tensor<2x$Tx2x3xf64>, %v: tensor<2x$Tx2x2xf64>, %decay: tensor<2x$Tx2x3xf64>, %erase: tensor<2x$Tx2x3xf64>, %lowrank: tensor<2x$Tx2x3xf64>, %initial: tensor<2x2x3x2xf64>) -> (tensor<2x$Tx2x2xf64>, tensor<2x2x3x2xf64>) {
  %r:2 = linrec.scan %q, %k, %v decay(%decay) erase(%erase) lowrank(%lowrank) initial(%initial) {erase_before_decay} : (tensor<2x$Tx2x3xf64>, tensor<2x$Tx2x3xf64>, tensor<2x$Tx2x2xf64>, tensor<2x$Tx2x3xf64>, tensor<2x$Tx2x3xf64>, tensor<2x$Tx2x3xf64>, tensor<2x2x3x2xf64>) -> (tensor<2x$Tx2x2xf64>, tensor<2x2x3x2xf64>)
  return %r#0, %r#1 : tensor<2x$Tx2x2xf64>, tensor<2x2x3x2xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2, 3, 4, 5, 6] {order = 1}
  return
}
