//===- RowMaterialize.h - from row ops to a block program -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_ROWMATERIALIZE_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_ROWMATERIALIZE_H

#include "dialects/Drawloom/Attributes.h"
#include "drawloom/IndexMath.h"
#include "passes/Block/Rows/RowAnalysis.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom {

/// A sum (or another associative reduction) over rows.
struct RowPartial {
  mlir::OpResult value;
  mlir::Operation *combiner;
  /// The initial value that the finished sum is added to.
  mlir::Value init;
  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
};

/// The row ops of one group, which become one block program.
struct RowRegion {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Row values with users outside the region.
  llvm::SetVector<mlir::Value> results;
  llvm::SmallVector<RowPartial> partials;
};

/// Describes how a region is split into blocks and tiles. It depends on shapes
/// alone, so that the bits of a result depend neither on the machine nor on the
/// number of threads.
struct RowSchedule {
  int64_t tileRows = 0;
  /// For blocks that carry sums: the max number of blocks, and the number of
  /// tiles that makes a block worth its sums. 0: blocks carry no sums and have
  /// one tile each.
  int64_t mostBlocks = 0, enoughTiles = 0;
  /// Extents of the part of a region's only sum that one block carries: there
  /// is one block for each part and range of rows. Empty: each block carries
  /// the whole sum.
  llvm::SmallVector<int64_t> sumPart;
  /// Whether the remainder of rows is processed in tiles whose size does not
  /// depend on the number of rows, even if that number is known.
  bool restInSteps = false;
  /// Whether each tile of the remainder is a block of its own.
  bool restInBlocks = false;
  /// Whether the block program gets an attribute with tileRows.
  bool isNoted = false;
};

/// The blocks that follow from the schedule and the number of rows: constants,
/// or values computed from an open number of rows.
struct RowBlocks {
  /// Number of blocks of whole tiles, and number of tiles per block, whose sums
  /// are carried from tile to tile; the last block may have fewer.
  mlir::OpFoldResult count, tilesPerBlock;
  /// Remainder of rows, fewer than a tile, which one more block computes.
  mlir::OpFoldResult rest;
};
RowBlocks blocksOf(const RowSchedule &schedule, mlir::OpFoldResult rows,
                   IndexMath math);

/// Replaces a region by a forall over blocks, one more block for the remainder,
/// and the second stages that combine the partial results in the order of the
/// blocks. The number of rows is the product of `factors`, of which there are
/// one or two.
llvm::LogicalResult materializeRows(RowRegion &region, RowAnalysis &rows,
                                    const RowSchedule &schedule,
                                    mlir::OpFoldResult extent);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_ROWMATERIALIZE_H
