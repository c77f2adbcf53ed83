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

/// The class that a block's work is parallel over, seen from its values and
/// ops.
class RowAnalysis {
public:
  /// Chooses the class whose parallel loops carry the most work; nothing if no
  /// loop of at least two iterations is parallel. Where there are extents that
  /// the program leaves open, it is one of these.
  static std::optional<RowAnalysis> create(mlir::Block &block);

  /// The same rows, seen again after ops were added and removed; none if
  /// nothing but constants has them.
  std::optional<RowAnalysis> refreshed(mlir::Block &block);

  /// How many rows there are; a call says it where they are open.
  int64_t rows() const { return numRows; }
  bool isOpen() const { return mlir::ShapedType::isDynamic(numRows); }
  /// Whether they are open in the program, and known here as those of one call.
  bool isOfCall() const { return ofCall; }
  /// Whether the program leaves them open, whether they are known here or not.
  bool isOpenInProgram() const { return openInProgram; }
  /// How many there are, asked of arguments of the block where they are open:
  /// of one that has them, or of those that have the two extents that they are
  /// the product of. Null where no argument has them.
  mlir::OpFoldResult extent(mlir::OpBuilder &builder, mlir::Block &block);
  /// The dimension of a tensor that counts rows, or none.
  std::optional<unsigned> rowDim(mlir::Value value);
  /// The loop of a structured op that runs over the rows, or none.
  std::optional<unsigned> rowLoop(mlir::Operation *op);
  /// Whether an op works on rows: it has a tile of its own in the block
  /// program.
  bool isMember(mlir::Operation *op);
  /// The first op that relates rows with rows (x times its own transpose),
  /// which no tile of rows can compute; null if there is none.
  mlir::Operation *findRowsAgainstRows(mlir::Block &block);
  /// The first op that works on rows and has another open extent, or a known
  /// number of open rows; null if there is none.
  mlir::Operation *findOtherOpenExtent(mlir::Block &block);
  /// Declares that a dimension of a new value counts rows.
  void addRowDim(mlir::Value value, unsigned dim);
  /// Has to be called before an op is erased.
  void forget(mlir::Operation *op) { classes.forget(op); }

private:
  bool hasOtherOpenExtent(mlir::Value value);
  RowAnalysis(DimensionClasses classes, DimensionClasses::Class row,
              int64_t numRows, bool ofCall, bool openInProgram)
      : classes(std::move(classes)), row(row), numRows(numRows), ofCall(ofCall),
        openInProgram(openInProgram) {}

  /// An argument's dimension of a class; null where none has it.
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
