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

/// A sum (or another associative combination) over rows.
struct RowPartial {
  mlir::OpResult value;
  mlir::Operation *combiner;
  /// What the finished sum is added to.
  mlir::Value init;
  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
};

/// The row ops of one phase: they become one block program.
struct RowRegion {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Row values that something outside reads.
  llvm::SetVector<mlir::Value> results;
  llvm::SmallVector<RowPartial> partials;
};

/// How a region is cut. A function of shapes alone, so that the bits of a
/// result depend neither on the machine nor on the number of threads.
struct RowSchedule {
  int64_t tileRows = 0;
  /// Of blocks that carry sums: how many there are at most, and the tiles that
  /// make such a block worth its sums. 0: blocks carry none, and have one tile.
  int64_t mostBlocks = 0, enoughTiles = 0;
  /// Extents of the part of a region's only sum that one block carries: there
  /// is a block for each part and range of rows. Empty: all of it.
  llvm::SmallVector<int64_t> sumPart;
  /// Whether what is left of a tile goes in tiles that no number of rows
  /// changes, also where that number is known.
  bool restInSteps = false;
  /// Whether each of these tiles is a block of its own.
  bool restInBlocks = false;
  /// Whether the block program has an attribute that says tileRows.
  bool isNoted = false;
};

/// What follows from the schedule and the number of rows: numbers, or what
/// computes them when a call says how many rows it has.
struct RowBlocks {
  /// Blocks of whole tiles, and tiles that one walks through, carrying its
  /// sums; the last one perhaps fewer.
  mlir::OpFoldResult count, tilesPerBlock;
  /// Rows behind these, fewer than a tile: one more block has them.
  mlir::OpFoldResult rest;
};
RowBlocks blocksOf(const RowSchedule &schedule, mlir::OpFoldResult rows,
                   IndexMath math);

/// Replaces a region by a forall over blocks, one more for the rest, and the
/// second stages that combine the partials in the order of the blocks. There
/// are as many rows as the product of `factors`, which are one or two.
llvm::LogicalResult materializeRows(RowRegion &region, RowAnalysis &rows,
                                    const RowSchedule &schedule,
                                    mlir::OpFoldResult extent);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_ROWMATERIALIZE_H
