// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_RELATIONAL_PASSES_TD
#define DRAWLOOM_PASSES_RELATIONAL_PASSES_TD

include "mlir/Pass/PassBase.td"

// In the order in which they run.

def FormSweeps : Pass<"rgnn-form-sweeps", "::mlir::func::FuncOp"> {
  let summary = "Compute ops on pairs of nodes and relations tile by tile";
  let description = [{
    Takes into one `rgnn.sweep` with a product of tiles (`rgnn.linear`,
    `rgnn.outer`) the other products in its direction that read the same rows of
    pairs, the `rgnn.traverse` that give those rows, where only these products
    read them, and the ones that only add up at nodes what a product gives to
    pairs. Nothing that it takes in is stored but for what others read.

    Example: test/passes/Relational/form-sweeps-of-a-layer.mlir
  }];
  let dependentDialects = ["::drawloom::rgnn::RgnnDialect"];
}

#endif // DRAWLOOM_PASSES_RELATIONAL_PASSES_TD
