// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @test() {
  %q = tensor.empty() : tensor<1x0x1x2xf64>
  %v = tensor.empty() : tensor<1x0x1x1xf64>
  %initial = arith.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf64>
  %o, %final = linrec.scan %q, %q, %v initial(%initial)
      : (tensor<1x0x1x2xf64>, tensor<1x0x1x2xf64>, tensor<1x0x1x1xf64>, tensor<1x1x2x1xf64>)
      -> (tensor<1x0x1x1xf64>, tensor<1x1x2x1xf64>)
  check.close %final, %initial : tensor<1x1x2x1xf64>
  return
}
