// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients and moments are zero: only weight decay moves the parameters, and it
// goes by each tensor's own rate. 1 - 0.1 * 0.5 * 0.2 and 1 - 0.1 * 3.0 * 0.4 of
// them are left.
func.func private @update(%p: tensor<2xf64>, %q: tensor<2xf64>, %zero: tensor<2xf64>, %lr: f64, %t: i64) -> (tensor<2xf64>, tensor<2xf64>) {
  %0:2, %1:2, %2:2 = opt.adamw params(%p, %q) grads(%zero, %zero) first(%zero, %zero) second(%zero, %zero) lr(%lr : f64) step(%t : i64)
      weight_decay [0.2, 0.4] lr_scale [0.5, 3.0] : tensor<2xf64>, tensor<2xf64>
  return %0#0, %0#1 : tensor<2xf64>, tensor<2xf64>
}

func.func @test() {
  %zero = arith.constant dense<0.0> : tensor<2xf64>
  %p = arith.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %lr = arith.constant 0.1 : f64
  %t = arith.constant 3 : i64
  %a:2 = call @update(%p, %p, %zero, %lr, %t) : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, f64, i64) -> (tensor<2xf64>, tensor<2xf64>)
  %half = arith.constant dense<[0.99, -1.98]> : tensor<2xf64>
  check.close %a#0, %half : tensor<2xf64>
  %three = arith.constant dense<[0.88, -1.76]> : tensor<2xf64>
  check.close %a#1, %three : tensor<2xf64>
  return
}
