//===- Decompose.h - patterns that expand domain ops ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_GRAPH_DECOMPOSE_H
#define DRAWLOOM_PASSES_GRAPH_DECOMPOSE_H

#include "mlir/IR/PatternMatch.h"

namespace drawloom {

/// Replaces ops that implement linalg's AggregatedOpInterface by their
/// decomposition; those that implement TilingInterface too only when
/// `tileable`.
void populateDecompositionPatterns(mlir::RewritePatternSet &patterns,
                                   bool tileable);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_DECOMPOSE_H
