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

/// Bytes of a tensor of known shape, with other elements.
int64_t bytesOf(mlir::RankedTensorType type, mlir::FloatType element);

/// Before an op on a graph, says which of its open extents are one.
void assertExtents(mlir::OpBuilder &builder, mlir::Operation *op);

/// What a combiner starts from, and what it makes of two numbers.
llvm::APFloat firstOf(Combiner combiner, mlir::FloatType element);
mlir::Value combined(mlir::OpBuilder &builder, mlir::Location loc,
                     Combiner combiner, mlir::Value a, mlir::Value b);
/// Whether all that a region gives is 1: a count.
bool givesOnes(TraverseOp op);

/// How far in a row is known: by all, a group, a node, a pair or an edge.
enum Level { Whole, Grouped, Node, Pair, Edge };

/// Runs block programs over the blocks of one order of the edges.
class Blocks {
public:
  /// With `partBytes`, blocks are put in groups, each of which keeps as many
  /// bytes of sums.
  Blocks(mlir::OpBuilder &builder, mlir::Location loc, GraphOp graph,
         Direction direction, int64_t partBytes);

  block::SliceBuilder s;
  Direction direction;
  Order order;
  int64_t rowsPerBlock;

  /// Where the rows of a space are known; those of relations by pair.
  Level levelOf(Space space) const;

  /// What a group of blocks owns.
  struct Group {
    mlir::Value number, firstBlock, lastBlock;
    mlir::Value firstNode, nodes, firstPair, pairs, firstEdge, edges;
  };
  /// One tensor that the program writes: all of it, and the part of a group.
  struct Output {
    mlir::RankedTensorType type;
    Space space;
    /// What `space` says of rows without an owner: they are kept by group.
    bool byGroup() const { return space == Space::Rel || space == Space::All; }
  };
  /// scf.forall over the groups; `body` gets the parts of the outputs that a
  /// group owns and returns them, filled.
  Values
  run(llvm::ArrayRef<Output> outputs,
      llvm::function_ref<Values(const Group &, mlir::ValueRange parts)> body);

  /// Adds up what groups have of one output.
  mlir::Value addGroups(mlir::Value parts, mlir::RankedTensorType type);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value least(mlir::Value a, mlir::Value b);
  mlir::Value next(mlir::Value a) { return add(a, s.index(1)); }
  /// What everybody reads of a tensor in the space `all`.
  mlir::Value whole(mlir::Value tensor);
  /// An element of an index tensor.
  mlir::Value at(mlir::Value indices, mlir::Value i) {
    return s.rowNumber(indices, i);
  }

private:
  mlir::Value nodes, blocks, groups, groupBlocks;
  int64_t knownGroups = mlir::ShapedType::kDynamic;
  /// How many there may be of what each group has a part of.
  int64_t parts = 0;
};

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_BLOCKS_H
