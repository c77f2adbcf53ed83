//===- RowAnalysis.h - which dimensions are the rows ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_ROWANALYSIS_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_ROWANALYSIS_H

#include "mlir/IR/Builders.h"
#include "passes/Graph/DimensionClasses.h"
#include <optional>

namespace drawloom {

/// The dimension class that a block's work is parallel over (the rows), queried
/// by values and ops.
class RowAnalysis {
public:
  /// Chooses the class whose parallel loops carry the most work; returns
  /// nothing if no loop of at least two iterations is parallel. If the program
  /// leaves extents open, the class is one of these.
  static std::optional<RowAnalysis> create(mlir::Block &block);

  /// Repeats the analysis for the same rows after ops were added and removed;
  /// returns nothing if only constants have the rows.
  std::optional<RowAnalysis> refreshed(mlir::Block &block);

  /// Returns the number of rows; if it is open, each call chooses it.
  int64_t rows() const { return numRows; }
  bool isOpen() const { return mlir::ShapedType::isDynamic(numRows); }
  /// Returns whether the rows are open in the program, but known here because
  /// they are those of one call.
  bool isOfCall() const { return ofCall; }
  /// Returns whether the program leaves the number of rows open, whether or not
  /// it is known here.
  bool isOpenInProgram() const { return openInProgram; }
  /// Returns the number of rows. If it is open, it is queried from an argument
  /// of the block that has the rows, or from arguments that have the two
  /// extents of which it is the product. Null if there are no such arguments.
  mlir::OpFoldResult extent(mlir::OpBuilder &builder, mlir::Block &block);
  /// Returns the dimension of a tensor that counts rows, or none.
  std::optional<unsigned> rowDim(mlir::Value value);
  /// Returns the loop of a structured op that runs over the rows, or none.
  std::optional<unsigned> rowLoop(mlir::Operation *op);
  /// Returns whether an op works on rows, so that it has a tile in the block
  /// program.
  bool isMember(mlir::Operation *op);
  /// Returns the first op that relates rows to rows (x times its own
  /// transpose), which no tile of rows can compute; null if there is none.
  mlir::Operation *findRowsAgainstRows(mlir::Block &block);
  /// Returns the first op that works on rows and has another open extent, or a
  /// known number of open rows; null if there is none.
  mlir::Operation *findOtherOpenExtent(mlir::Block &block);
  /// Declares that a dimension of a new value counts rows.
  void addRowDim(mlir::Value value, unsigned dim);
  /// Must be called before an op is erased.
  void forget(mlir::Operation *op) { classes.forget(op); }

private:
  bool hasOtherOpenExtent(mlir::Value value);
  RowAnalysis(DimensionClasses classes, DimensionClasses::Class row,
              int64_t numRows, bool ofCall, bool openInProgram)
      : classes(std::move(classes)), row(row), numRows(numRows), ofCall(ofCall),
        openInProgram(openInProgram) {}

  /// Returns an argument and its dimension of the given class; null if no
  /// argument has one.
  std::pair<mlir::Value, unsigned> argumentOf(DimensionClasses::Class wanted,
                                              mlir::Block &block);

  DimensionClasses classes;
  DimensionClasses::Class row;
  int64_t numRows;
  bool ofCall;
  bool openInProgram;
};

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_ROWANALYSIS_H
