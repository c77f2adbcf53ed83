//===- RowCost.h - how to cut a region of row ops ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_ROWCOST_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_ROWCOST_H

#include "passes/Block/Rows/RowMaterialize.h"

namespace drawloom {

/// An attribute of functions: the budget of tiles of blocks with products and
/// sums over rows, in bytes, that was found to be the fastest.
inline constexpr llvm::StringLiteral tileBytesAttr = "drawloom.tile_bytes";

struct RowCostOptions {
  /// Rows of a tile; 0: the largest power of two between these whose working
  /// set fits.
  int64_t tileRows = 0;
  int64_t leastRows = 16, mostRows = 64;
  /// The most of a tile on which nothing is multiplied, where that leaves
  /// `maxBlocks` tiles; less than `mostRows`: no other number.
  int64_t mostPlainRows = 0;
  /// What may be read again for every tile at no cost, bytes.
  int64_t sweptBytes = 0;
  /// Whether matrices that products read in every block are copied into the
  /// order in which they read them.
  bool packUniform = true;
  /// Whether a product of which few rows fit shares its blocks with what else
  /// reads or makes its rows: what such blocks read of memory, and write to it,
  /// goes through the cache in any case and has no part in the budget.
  bool wideProducts = false;
  /// Matrices of so many bytes are read by columns for open rows, with
  /// `wideProducts`.
  int64_t columnBytes = 0;
  /// Upper bound on blocks that carry partials.
  int64_t maxBlocks = 64;
  /// Budget of one tile's working set, bytes.
  int64_t cacheBytes = 448 * 1024;
  /// The same of regions with products, and of those that also carry sums; 0:
  /// no other one. More rows to a tile read each weight less often.
  int64_t productBytes = 0, summedProductBytes = 0;
  /// What takes the place of the last one, if it is not 0; but the fewest rows
  /// of a tile have the ordinary budget.
  int64_t chosenBytes = 0;
  /// Sums over rows that one block may carry, bytes; 0: as many as there are.
  int64_t sumBytes = 0;
  /// The same of one sum alone: where it is more, blocks have parts of it.
  int64_t sumPartBytes = 0;
  /// Operations that a block should do for each byte of its partial sums. At 44
  /// GB/s against 100 GFLOP/s, as measured, a byte costs as much as 2.3
  /// operations: so it is one part in a hundred.
  int64_t operationsPerSumByte = 230;
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
