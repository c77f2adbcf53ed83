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

/// Options of fuse-rows, plus what the function itself specifies.
struct RowCostOptions : FuseRowsOptions {
  RowCostOptions() = default;
  explicit RowCostOptions(const FuseRowsOptions &options)
      : FuseRowsOptions(options) {}
  /// If not 0, replaces summedProductBytes, except for tiles of the min number
  /// of rows, which keep the ordinary budget.
  int64_t chosenBytes = 0;
};

/// The cost of one row of a region.
struct RowFootprint {
  /// Max bytes per row of the row values that are alive at once. If `isWide`
  /// (see RowCostOptions::wideProducts), counts only those that are neither
  /// read from outside the region nor written there.
  int64_t tileBytesPerRow = 0;
  bool isWide = false;
  /// Bytes of operands that every block reads in full.
  int64_t uniformBytes = 0;
  int64_t accumulatorBytes = 0;
  /// Body operations per row.
  int64_t operationsPerRow = 0;

  /// Returns the bytes that must stay in the cache while a tile is computed.
  /// Operands and accumulators that are swept once per tile are not included:
  /// 64 rows do enough work for each weight that is read, and for each
  /// accumulator that is updated, that even main memory keeps up.
  int64_t workingSet(int64_t tileRows) const {
    return tileBytesPerRow * tileRows;
  }
};

RowFootprint measureRows(const RowRegion &region, RowAnalysis &rows,
                         const RowCostOptions &options);

/// Splits a region, in program order, into pieces that fit; a region that fits
/// stays whole. Tiles of `maxRows` rows must fit; fewer rows suffice if the
/// bytes swept for each tile fit as well. An op that does not fit alone becomes
/// a piece of its own.
llvm::SmallVector<RowRegion> splitToFit(const RowRegion &region,
                                        RowAnalysis &rows,
                                        const RowCostOptions &options);

/// Returns the budget, in bytes, for the working set of a tile of these ops.
int64_t tileBudget(const RowRegion &region, RowAnalysis &rows,
                   const RowCostOptions &options);

/// Returns nothing if not even the smallest tile fits the budget.
std::optional<RowSchedule> scheduleRows(const RowRegion &region,
                                        RowAnalysis &rows,
                                        const RowFootprint &footprint,
                                        const RowCostOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_ROWCOST_H
