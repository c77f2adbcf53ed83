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

/// Builds one rgnn.traverse in one direction: reads the rows that an edge
/// refers to, executes the region, and carries sums from edge to edge.
class EdgeRows {
public:
  /// Computes the results with the given numbers.
  EdgeRows(TraverseOp op, Blocks &blocks, llvm::ArrayRef<unsigned> results);

  /// Builds a separate block program; returns the requested results.
  Values build();

  /// Reads the rows of an input from a tile of pairs instead of a tensor.
  void takeFrom(unsigned input, mlir::Value tile) { tiles[input] = tile; }
  /// A pair of a tile: its position there, its number and its near node. If
  /// `there` is false, the numbers are those of some other pair.
  struct Member {
    mlir::Value place, pair, node, there;
  };
  /// Returns a pair's rows of the results, which are at pairs; zeros if the
  /// pair is absent.
  Values rowsOf(const Member &member);
  /// Adds a pair's contributions to the results, which are sums at nodes;
  /// `parts` begin with node `firstNode`.
  Values addTo(const Member &member, mlir::ValueRange parts,
               mlir::Value firstNode);
  /// Returns a result's type during accumulation.
  static mlir::RankedTensorType summedType(mlir::RankedTensorType type);

private:
  /// One result. Loops inside `level` carry `sum`; loops outside it carry
  /// `part`, the group's part of the result.
  struct Result {
    unsigned number;
    Space space;
    Combiner combiner;
    mlir::RankedTensorType type;
    /// The type of a row during accumulation.
    mlir::Type row;
    Level level;
    mlir::Value part, sum;
  };

  /// Builds a loop inside `level`: it carries the values that are written in
  /// it.
  void loop(mlir::Value lower, mlir::Value upper, Level level,
            llvm::function_ref<void(mlir::Value)> body);
  llvm::SmallVector<mlir::Value *> carried(Level level);

  /// Reads the rows of the inputs that are known at `level`.
  void readInputs(Level level, mlir::Value row);
  mlir::Value readRow(mlir::Value tensor, mlir::Value row);
  mlir::Value writeRow(mlir::Value row, mlir::Value part, mlir::Value at);
  void visitNode(mlir::Value node);
  void visitPair(mlir::Value pair);
  void visitEdge(mlir::Value edge);
  /// Computes the sums at a pair over its edges from `first` up to `last`.
  void sumPair(mlir::Value first, mlir::Value last);
  /// Executes the region and returns what it yields for the results.
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
  /// Position in the tile.
  mlir::Value place;
};

/// Returns the bytes of sums that each group of blocks keeps for the results of
/// `op`.
int64_t groupedBytes(TraverseOp op, llvm::ArrayRef<unsigned> results);

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_EDGEROWS_H
