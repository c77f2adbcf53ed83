// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_RELATIONAL_PASSES_TD
#define DRAWLOOM_PASSES_RELATIONAL_PASSES_TD

include "mlir/Pass/PassBase.td"

// In the order in which they run.

def Associate : Pass<"rgnn-associate", "::mlir::func::FuncOp"> {
  let summary = "Multiply rows before they are added up over edges, or behind";
  let description = [{
    A sum at nodes of products, `rgnn.linear` of what the other end's pairs have,
    becomes a sum at pairs, then products, where that costs less: products are for
    as many pairs as there are at one end or at the other, rows are gathered in
    the width before the product or behind it, and products behind a sum need no
    table. Outer products of a sum of edges with rows of its pairs become those
    of the rows with the sum at the other end, where that is computed anyway:
    gradients of matrices and of what they multiply share one sum. Rounding
    changes; it depends on widths, and on how many edges a pair has: on the graph's
    `edges_per_pair`, or on its extents where these are known.

    Example: test/passes/Relational/form-sweeps-of-a-gradient.mlir
  }];
  let dependentDialects = ["::drawloom::rgnn::RgnnDialect"];
}

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

def ShareRows : Pass<"rgnn-share-rows", "::mlir::func::FuncOp"> {
  let summary = "Compute once what edges say to both of their ends";
  let description = [{
    An `rgnn.traverse` with sums at both ends of its edges is computed twice, once
    for each end's nodes. Where one end gets little and the rows that this is
    computed from are wide, as gradients of a softmax's scores are, edges keep it,
    and an op of its own adds it up.

    Example: test/passes/Relational/share-rows-of-scores.mlir
  }];
  let dependentDialects = ["::drawloom::rgnn::RgnnDialect"];
}

#endif // DRAWLOOM_PASSES_RELATIONAL_PASSES_TD
