//===- TileRows.h - a traverse in lockstep ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_RGNN_TILEROWS_H
#define DRAWLOOM_DIALECTS_RGNN_TILEROWS_H

#include "dialects/Rgnn/Blocks.h"

namespace drawloom::rgnn {

/// Builds a traverse for a tile of nodes or pairs in lockstep: the first edge
/// of each, then the second, up to the longest. Processors whose lanes run in
/// lockstep read the rows of a whole tile at a time, while one node after
/// another would leave most lanes idle.
class TileRows {
public:
  /// Returns whether an op has such a form.
  static bool handles(TraverseOp op, llvm::ArrayRef<unsigned> results);

  /// Computes the results with the given numbers, for a tile of `count` rows.
  TileRows(TraverseOp op, Blocks &blocks, llvm::ArrayRef<unsigned> numbers,
           int64_t count);

  /// Builds the block program that computes the results.
  Values build();

  /// Reads the rows of an input from a tile of pairs instead of a tensor.
  void takeFrom(unsigned input, mlir::Value tile) { tiles[input] = tile; }
  /// Row numbers, -1 for absent rows: of the pairs of a sweep's tile, which
  /// share a relation, and of their near nodes.
  struct Members {
    mlir::Value pairs, nodes, relation;
  };
  /// Returns the pairs' rows of the results, which are at pairs; zeros for
  /// absent pairs.
  Values rowsOf(const Members &members);
  /// Adds the pairs' contributions to the results, which are sums at nodes;
  /// `parts` begin with node `firstNode`.
  Values addTo(const Members &members, mlir::ValueRange parts,
               mlir::Value firstNode);

private:
  /// One result. Loops inside `level` carry `sum`, the rows of a tile; loops
  /// outside it carry `part`, the group's part of the result.
  struct Result {
    unsigned number;
    Space space;
    Combiner combiner;
    mlir::RankedTensorType type;
    Level level;
    mlir::Value part, sum;
  };

  void loop(mlir::Value count, Level level,
            llvm::function_ref<void(mlir::Value)> body);

  /// Computes one number from each number, by `body`.
  mlir::Value numbersBy(mlir::ValueRange numbers,
                        llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  mlir::Value isRow(mlir::Value number);
  mlir::Value minusOneUnless(mlir::Value condition, mlir::Value number);
  /// Returns entries of an index array; -1 where the number is -1.
  mlir::Value entries(mlir::Value array, mlir::Value numbers);
  /// Returns the successors of numbers; -1 stays -1.
  mlir::Value next(mlir::Value numbers);
  /// Returns numbers relative to `first`; -1 stays -1.
  mlir::Value countedFrom(mlir::Value first, mlir::Value numbers);
  /// Returns begin + step where that is below the end, else -1.
  mlir::Value at(mlir::Value begin, mlir::Value lengths, mlir::Value step);
  mlir::Value difference(mlir::Value end, mlir::Value begin);
  mlir::Value mostOf(mlir::Value numbers);

  mlir::Value gathered(mlir::Value table, mlir::Value numbers);
  /// Reads the inputs that are known at a level, by these row numbers.
  void readInputs(Level level, mlir::Value numbers);
  Values execute();
  /// Applies `body` to whether each row exists, and to the elements of `inputs`
  /// and `into`.
  mlir::Value
  masked(mlir::Value numbers, mlir::ValueRange inputs, mlir::Value into,
         llvm::function_ref<mlir::Value(mlir::Value, mlir::ValueRange)> body);
  /// Returns rows, with zeros for absent rows.
  mlir::Value zerosUnless(mlir::Value numbers, mlir::Value rows);
  /// Returns whether the region yields for a result a value gathered at `level`
  /// or further in, which is 0 for an absent row.
  bool isGathered(const Result &result, Level level);

  void start(Level level);
  /// Executes the region and adds its results; `numbers` tell which rows exist.
  /// Values gathered from `level` on are 0 for absent rows.
  void visit(mlir::Value numbers, Level level);
  void store(Level level, mlir::Value first, mlir::Value numbers);
  /// Visits the edges from `begin` up to `end` of each row of `level`.
  void visitEdges(mlir::Value begin, mlir::Value end, Level level);
  void visitEdgesOf(mlir::Value pairs);
  void visitPairs(mlir::Value pairs);
  void visitNodes(mlir::Value nodes);

  TraverseOp op;
  Blocks &blocks;
  block::SliceBuilder &s;
  mlir::OpBuilder &b;
  int64_t count;
  Blocks::Group group;
  llvm::SmallVector<Result> results;
  llvm::DenseMap<unsigned, mlir::Value> tiles;
  Values rows;
  llvm::SmallVector<bool> isShared;
  /// Type of row numbers: the widest of the index arrays.
  mlir::Type integer;
  /// The relation of all pairs of a tile; none if they have several.
  mlir::Value relation;
};

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_TILEROWS_H
