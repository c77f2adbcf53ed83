// RUN: %for_each T=lower,upper U=,transpose,unit,"transpose unit" %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The result does not depend on what is not read of the matrix, the other
// triangle and, of a unit one, the diagonal: their gradient is zero, as
// differences say.
func.func @f(%a: tensor<4x4xf64>, %b: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %x = block.solve_triangular $T $U %a outs(%b) : tensor<4x4xf64> -> tensor<4x3xf64>
  return %x : tensor<4x3xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1] in [0.5, 1.5] {order = 1}
  return
}
