// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%a: f64, %b: f64) -> tensor<2x2xf64> {
  %y = tensor.from_elements %a, %b, %b, %a : tensor<2x2xf64>
  %z = math.exp %y : tensor<2x2xf64>
  return %z : tensor<2x2xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
