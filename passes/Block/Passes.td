// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_BLOCK_PASSES_TD
#define DRAWLOOM_PASSES_BLOCK_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def DecomposeBlocks : Pass<"decompose-blocks"> {
  let summary = "Express the domain ops inside tiles by loops, slices and linalg";
  let description = [{
    The second half of `decompose-graph`: ops that were kept whole so that they
    could be tiled with their neighbours (encodings, gathers, scans, triangular
    solves) are decomposed where they stand now.

    Example: test/passes/Block/decompose-blocks-expands-tileable-ops.mlir
  }];
}

#endif // DRAWLOOM_PASSES_BLOCK_PASSES_TD
