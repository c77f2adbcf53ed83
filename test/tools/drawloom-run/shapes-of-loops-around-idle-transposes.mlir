// RUN: drawloom-run %s --shape=0:33x4 --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A transpose that exchanges nothing is its operand, of which more is known
// than the type of its result says.
func.func @f(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %a, %c0 : tensor<?x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %a) -> (tensor<?x4xf32>) {
    %e = tensor.empty(%rows) : tensor<?x4xf32>
    %t = linalg.transpose ins(%s : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) permutation = [0, 1]
    scf.yield %t : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}
