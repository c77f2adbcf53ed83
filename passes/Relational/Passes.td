// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_RELATIONAL_PASSES_TD
#define DRAWLOOM_PASSES_RELATIONAL_PASSES_TD

include "mlir/Pass/PassBase.td"

// In the order in which they run.

def Associate : Pass<"rgnn-associate", "::mlir::func::FuncOp"> {
  let summary = "Move matrix products across sums over edges";
  let description = [{
    A sum at nodes of products (`rgnn.linear` of the rows of pairs at the other
    end) becomes a sum at pairs followed by products, where that costs less. The
    costs compared: the number of products is the number of pairs at one end or
    at the other, rows are gathered at the width before or after the product,
    and products after a sum need no table. Outer products of a sum over edges
    with rows of its pairs become outer products of these rows with the sum at
    the other end, where that sum is computed anyway: gradients of matrices and
    of the values that they multiply then share one sum. Rounding changes. The
    choice depends on widths, and on how many edges a pair has: on the graph's
    `edges_per_pair`, or on its extents if these are known.

    Example: test/passes/Relational/form-sweeps-of-a-gradient.mlir
  }];
  let dependentDialects = ["::drawloom::rgnn::RgnnDialect"];
}

def FormSweeps : Pass<"rgnn-form-sweeps", "::mlir::func::FuncOp"> {
  let summary = "Compute ops on pairs of nodes and relations tile by tile";
  let description = [{
    Fuses ops into one `rgnn.sweep` with a product of tiles (`rgnn.linear`,
    `rgnn.outer`): the other products in its direction that read the same rows
    of pairs; each `rgnn.traverse` that makes those rows, if only these products
    read them; and each that only adds up, at nodes, what a product gives to
    pairs. Results of the fused ops are stored only if other ops read them.

    Example: test/passes/Relational/form-sweeps-of-a-layer.mlir
  }];
  let dependentDialects = ["::drawloom::rgnn::RgnnDialect"];
}

def ShareRows : Pass<"rgnn-share-rows", "::mlir::func::FuncOp"> {
  let summary = "Compute once the values that edges send to both of their ends";
  let description = [{
    An `rgnn.traverse` with sums at both ends of its edges is computed twice,
    once for the nodes of each end. If the sum at one end is narrow and the rows
    that it is computed from are wide, as for the gradients of a softmax's
    scores, the values are stored per edge, and a separate op adds them up.

    Example: test/passes/Relational/share-rows-of-scores.mlir
  }];
  let dependentDialects = ["::drawloom::rgnn::RgnnDialect"];
}

#endif // DRAWLOOM_PASSES_RELATIONAL_PASSES_TD
