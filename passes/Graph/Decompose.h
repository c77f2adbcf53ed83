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

/// Repeatedly replaces the ops below `root` that implement linalg's
/// AggregatedOpInterface by their decomposition, except for those that stay.
llvm::LogicalResult decomposeAll(mlir::Operation *root,
                                 std::function<bool(mlir::Operation *)> stays);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_DECOMPOSE_H
