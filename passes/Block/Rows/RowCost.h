//===- RowCost.h - how to cut a region of row ops ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_ROWCOST_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_ROWCOST_H

#include "dialects/Drawloom/Attributes.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Rows/RowMaterialize.h"

namespace drawloom {

/// What fuse-rows was given, and what a function says of itself.
struct RowCostOptions : FuseRowsOptions {
  RowCostOptions() = default;
  explicit RowCostOptions(const FuseRowsOptions &options)
      : FuseRowsOptions(options) {}
  /// What takes the place of summedProductBytes, if it is not 0; but the fewest
  /// rows of a tile have the ordinary budget.
  int64_t chosenBytes = 0;
};

/// What one row of a region costs.
struct RowFootprint {
  /// Largest sum of row values alive at once, bytes per row; with
  /// RowCostOptions::wideProducts, where `isWide`, of those that are neither
  /// read from outside of the region nor written there.
  int64_t tileBytesPerRow = 0;
  bool isWide = false;
  /// Operands that every block reads whole and in full, bytes.
  int64_t uniformBytes = 0;
  int64_t accumulatorBytes = 0;
  /// Body operations per row.
  int64_t operationsPerRow = 0;

  /// What has to stay in the cache while a tile runs through. Not what is swept
  /// once for each tile: 64 rows do so much with a weight that is read, or a
  /// sum that is read and written, that even memory keeps up.
  int64_t workingSet(int64_t tileRows) const {
    return tileBytesPerRow * tileRows;
  }
};

RowFootprint measureRows(const RowRegion &region, RowAnalysis &rows,
                         const RowCostOptions &options);

/// Cuts a region, in program order, into pieces that fit; a region that fits
/// stays whole. Tiles of 64 rows have to fit; fewer rows do where what is swept
/// for each tile fits as well. An op that does not fit alone is a piece.
llvm::SmallVector<RowRegion> splitToFit(const RowRegion &region,
                                        RowAnalysis &rows,
                                        const RowCostOptions &options);

/// Budget of the working set of a tile of these ops, bytes.
int64_t tileBudget(const RowRegion &region, RowAnalysis &rows,
                   const RowCostOptions &options);

/// Nothing if not even the smallest tile fits the budget.
std::optional<RowSchedule> scheduleRows(const RowRegion &region,
                                        RowAnalysis &rows,
                                        const RowFootprint &footprint,
                                        const RowCostOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_ROWCOST_H
