//===- EdgeRows.h - the region of a traverse, edge by edge ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_RGNN_EDGEROWS_H
#define DRAWLOOM_DIALECTS_RGNN_EDGEROWS_H

#include "dialects/Rgnn/Blocks.h"

namespace drawloom::rgnn {

/// One rgnn.traverse in one direction: reads the rows that an edge meets,
/// executes the region, and carries sums from edge to edge.
class EdgeRows {
public:
  /// Of the results with these numbers.
  EdgeRows(TraverseOp op, Blocks &blocks, llvm::ArrayRef<unsigned> results);

  /// A block program of its own; the results that were asked for.
  Values build();

  /// Where rows of an input stand in a tile of pairs, instead of a tensor.
  void takeFrom(unsigned input, mlir::Value tile) { tiles[input] = tile; }
  /// A pair of a tile: its place there, its number and its near node. Where
  /// `there` does not hold, the numbers are of some other pair.
  struct Member {
    mlir::Value place, pair, node, there;
  };
  /// The rows that a pair has of the results, which are at pairs; zeros where
  /// it is not there.
  Values rowsOf(const Member &member);
  /// The results, which are sums at nodes, with what a pair gives to them;
  /// `parts` begin with node `firstNode`.
  Values addTo(const Member &member, mlir::ValueRange parts,
               mlir::Value firstNode);
  /// A result's type while it is summed.
  static mlir::RankedTensorType summedType(mlir::RankedTensorType type);

private:
  /// One result. Loops inside of `level` carry `sum`, those outside `part`,
  /// what the group has of the result.
  struct Result {
    unsigned number;
    Space space;
    Combiner combiner;
    mlir::RankedTensorType type;
    /// The type of a row while it is summed.
    mlir::Type row;
    Level level;
    mlir::Value part, sum;
  };

  /// A loop inside of `level`: carries what is written in it.
  void loop(mlir::Value lower, mlir::Value upper, Level level,
            llvm::function_ref<void(mlir::Value)> body);
  llvm::SmallVector<mlir::Value *> carried(Level level);

  /// The rows of the inputs that are known at `level`.
  void readInputs(Level level, mlir::Value row);
  mlir::Value readRow(mlir::Value tensor, mlir::Value row);
  mlir::Value writeRow(mlir::Value row, mlir::Value part, mlir::Value at);
  void visitNode(mlir::Value node);
  void visitPair(mlir::Value pair);
  void visitEdge(mlir::Value edge);
  /// The sums at a pair, over its edges from `first` on, up to `last`.
  void sumPair(mlir::Value first, mlir::Value last);
  /// Executes the region: what it yields for the results.
  Values executeRegion();
  void visitRegion();
  void start(Level level);
  mlir::Value combined(Combiner combiner, mlir::Value sum, mlir::Value row);
  mlir::Value zeroWhere(mlir::Value condition, mlir::Value row);
  mlir::Value converted(mlir::Value row, mlir::Type wanted);

  TraverseOp op;
  mlir::OpBuilder &b;
  Blocks &blocks;
  block::SliceBuilder &s;
  llvm::SmallVector<Result> results;
  Values rows;
  Blocks::Group group;
  llvm::DenseMap<unsigned, mlir::Value> tiles;
  /// In the tile.
  mlir::Value place;
};

/// Bytes of sums that each group of blocks keeps for the results of `op`.
int64_t groupedBytes(TraverseOp op, llvm::ArrayRef<unsigned> results);

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_EDGEROWS_H
