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

/// Code of a traverse for a tile of nodes or pairs in lockstep: the first edge
/// of each, then the second one, up to the longest. Processors whose lanes run
/// in step read the rows of a whole tile at a time, where one node after the
/// other would leave most lanes idle.
class TileRows {
public:
  /// Whether an op has such a form.
  static bool handles(TraverseOp op, llvm::ArrayRef<unsigned> results);

  /// For the results with these numbers, of a tile of `count` rows.
  TileRows(TraverseOp op, Blocks &blocks, llvm::ArrayRef<unsigned> numbers,
           int64_t count);

  /// The block program that computes the results.
  Values build();

  /// Where rows of an input stand in a tile of pairs, instead of a tensor.
  void takeFrom(unsigned input, mlir::Value tile) { tiles[input] = tile; }
  /// Numbers of rows, -1 where there is none: of the pairs of a sweep's tile,
  /// which share a relation, and their near nodes.
  struct Members {
    mlir::Value pairs, nodes, relation;
  };
  /// The rows that pairs have of the results, which are at pairs; zeros where
  /// there is none.
  Values rowsOf(const Members &members);
  /// The results, which are sums at nodes, with what pairs give to them;
  /// `parts` begin with node `firstNode`.
  Values addTo(const Members &members, mlir::ValueRange parts,
               mlir::Value firstNode);

private:
  /// One result. Loops inside of `level` carry `sum`, the rows of a tile, those
  /// outside `part`, what the group has of the result.
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

  /// One number made of each, by `body`.
  mlir::Value numbersBy(mlir::ValueRange numbers,
                        llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  mlir::Value isRow(mlir::Value number);
  mlir::Value minusOneUnless(mlir::Value condition, mlir::Value number);
  /// Entries of an index array; -1 where a number is.
  mlir::Value entries(mlir::Value array, mlir::Value numbers);
  /// The numbers that follow; -1 stays.
  mlir::Value next(mlir::Value numbers);
  /// Numbers counted from `first` on; -1 stays.
  mlir::Value countedFrom(mlir::Value first, mlir::Value numbers);
  /// begin + step where that is below the end, else -1.
  mlir::Value at(mlir::Value begin, mlir::Value lengths, mlir::Value step);
  mlir::Value difference(mlir::Value end, mlir::Value begin);
  mlir::Value mostOf(mlir::Value numbers);

  mlir::Value gathered(mlir::Value table, mlir::Value numbers);
  /// Reads the inputs that are known at a level, by these numbers.
  void readInputs(Level level, mlir::Value numbers);
  Values execute();
  /// What `body` makes of whether there is a row, and of the elements of
  /// `inputs` and `into`.
  mlir::Value
  masked(mlir::Value numbers, mlir::ValueRange inputs, mlir::Value into,
         llvm::function_ref<mlir::Value(mlir::Value, mlir::ValueRange)> body);
  /// Rows, with zeros where there are none.
  mlir::Value zerosUnless(mlir::Value numbers, mlir::Value rows);
  /// Whether the region yields for a result what was gathered at `level` or
  /// further in: 0 where there is no row.
  bool isGathered(const Result &result, Level level);

  void start(Level level);
  /// Executes the region and adds what it gives; `numbers` say which rows are
  /// there. What is gathered from `level` on is 0 where they are not.
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
  /// Of numbers of rows: the widest that the index arrays have.
  mlir::Type integer;
  /// That of all pairs of a tile; none where they have several.
  mlir::Value relation;
};

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_TILEROWS_H
