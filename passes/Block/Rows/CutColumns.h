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

/// Turns products of open rows with a matrix that is too large to be read again
/// for every few rows into blocks of a few columns and many rows, together with
/// the ops that only use their sums. Returns whether there were any.
bool cutWideProducts(mlir::Block &block, RowAnalysis &rows,
                     const RowCostOptions &options);

/// Turns sums over rows that are too large to be carried by blocks of rows into
/// blocks that each compute some of the sum's elements over all rows. Returns
/// whether there were any.
bool cutWideSums(mlir::Block &block, RowAnalysis &rows,
                 const RowCostOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_CUTCOLUMNS_H
