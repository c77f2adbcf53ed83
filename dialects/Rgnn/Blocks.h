//===- Blocks.h - block programs over the edges of a graph ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_RGNN_BLOCKS_H
#define DRAWLOOM_DIALECTS_RGNN_BLOCKS_H

#include "dialects/Block/Block.h"
#include "dialects/Block/SliceBuilder.h"
#include "dialects/Rgnn/Rgnn.h"

namespace drawloom::rgnn {

using Values = llvm::SmallVector<mlir::Value>;

/// Returns the bytes of a tensor of known shape if it had elements of type
/// `element`.
int64_t bytesOf(mlir::RankedTensorType type, mlir::FloatType element);

/// Asserts, before an op on a graph, which of its open extents are equal.
void assertExtents(mlir::OpBuilder &builder, mlir::Operation *op);

/// firstOf() returns the neutral element of a combiner; combined() combines two
/// numbers.
llvm::APFloat firstOf(Combiner combiner, mlir::FloatType element);
mlir::Value combined(mlir::OpBuilder &builder, mlir::Location loc,
                     Combiner combiner, mlir::Value a, mlir::Value b);
/// Returns whether everything that a region yields is 1: a count.
bool givesOnes(TraverseOp op);

/// The innermost level at which a row is known: for everything, per group,
/// node, pair or edge.
enum Level { Whole, Grouped, Node, Pair, Edge };

/// Builds block programs over the blocks of one order of the edges.
class Blocks {
public:
  /// With `partBytes`, blocks are grouped, and each group keeps that many bytes
  /// of sums.
  Blocks(mlir::OpBuilder &builder, mlir::Location loc, GraphOp graph,
         Direction direction, int64_t partBytes);

  block::SliceBuilder s;
  Direction direction;
  Order order;
  int64_t rowsPerBlock;

  /// Returns the level at which the rows of a space are known; those of
  /// relations are known per pair.
  Level levelOf(Space space) const;

  /// The rows that a group of blocks owns.
  struct Group {
    mlir::Value number, firstBlock, lastBlock;
    mlir::Value firstNode, nodes, firstPair, pairs, firstEdge, edges;
  };
  /// One tensor that the program writes: the whole tensor, and the part of a
  /// group.
  struct Output {
    mlir::RankedTensorType type;
    Space space;
    /// Returns whether rows of the space have no owner, so that each group
    /// keeps its own.
    bool byGroup() const { return space == Space::Rel || space == Space::All; }
  };
  /// Builds an scf.forall over the groups; `body` gets the parts of the outputs
  /// that a group owns and returns them, filled.
  Values
  run(llvm::ArrayRef<Output> outputs,
      llvm::function_ref<Values(const Group &, mlir::ValueRange parts)> body);

  /// Adds up the groups' parts of one output.
  mlir::Value addGroups(mlir::Value parts, mlir::RankedTensorType type);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value least(mlir::Value a, mlir::Value b);
  mlir::Value next(mlir::Value a) { return add(a, s.index(1)); }
  /// Returns the single row of a tensor in the space `all`, which everything
  /// reads.
  mlir::Value whole(mlir::Value tensor);
  /// Returns an element of an index tensor.
  mlir::Value at(mlir::Value indices, mlir::Value i) {
    return s.rowNumber(indices, i);
  }

private:
  mlir::Value nodes, blocks, groups, groupBlocks;
  int64_t knownGroups = mlir::ShapedType::kDynamic;
  /// Max number of parts of an output of which each group has its own.
  int64_t parts = 0;
};

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_BLOCKS_H
