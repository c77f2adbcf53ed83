//===- RowPreparation.h - rewrites ahead of fusion along rows ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_ROWPREPARATION_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_ROWPREPARATION_H

#include "passes/Block/Rows/RowAnalysis.h"

namespace drawloom {

/// Rewrites the members of a block so that their tiles are efficient:
///  - a sum over rows that also reduces other dimensions (a loss) keeps those
///    as lanes, which one small op adds up after the second stage;
///  - a contraction that reads an operand without rows across its contraction
///    dimension (dz times W transposed) gets a transposed copy, made once for
///    all blocks, if `packUniform`.
/// Invalidates `rows`.
void prepareRows(mlir::Block &block, RowAnalysis &rows, bool packUniform);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_ROWPREPARATION_H
