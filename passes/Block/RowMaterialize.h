//===- RowMaterialize.h - from row ops to a block program -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWMATERIALIZE_H
#define DRAWLOOM_PASSES_BLOCK_ROWMATERIALIZE_H

#include "passes/Block/RowAnalysis.h"
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
  /// Tiles that one block walks through, carrying its partials.
  int64_t tilesPerBlock = 1;
  int64_t blocks = 0;
  /// Rows left for one more, smaller tile.
  int64_t rest = 0;
  /// Extents of the part of a region's only sum that one block carries: there
  /// is a block for each part and range of rows. Empty: all of it.
  llvm::SmallVector<int64_t> sumPart;
  /// Whether the block program has an attribute that says tileRows.
  bool isNoted = false;
};

/// Replaces a region by a forall over blocks, one more for the rest, and the
/// second stages that combine the partials in the order of the blocks.
llvm::LogicalResult materializeRows(RowRegion &region, RowAnalysis &rows,
                                    const RowSchedule &schedule);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWMATERIALIZE_H
