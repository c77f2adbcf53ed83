//===- CutColumns.h - wide products of open rows ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_CUTCOLUMNS_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_CUTCOLUMNS_H

#include "passes/Block/Rows/RowCost.h"

namespace drawloom {

/// Products of open rows with a matrix that is too large to be read again for
/// every few of them become blocks of some columns and many rows, together with
/// the ops that only go on from their sums. Returns whether there were any.
bool cutWideProducts(mlir::Block &block, RowAnalysis &rows,
                     const RowCostOptions &options);

/// Sums over rows that are too large for blocks of rows to carry become blocks
/// of some of their elements, which go through all rows. Returns whether there
/// were any.
bool cutWideSums(mlir::Block &block, RowAnalysis &rows,
                 const RowCostOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_CUTCOLUMNS_H
