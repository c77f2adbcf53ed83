//===- HostGraph.h - a graph, for the interpreter ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_RGNN_HOSTGRAPH_H
#define DRAWLOOM_DIALECTS_RGNN_HOSTGRAPH_H

#include "dialects/Rgnn/Rgnn.h"

namespace drawloom::rgnn {

/// A graph as lists: everything that the semantics of ops depends on.
struct HostGraph {
  struct Pairs {
    std::vector<int64_t> node, relation;
  };
  int64_t relations = 0, sources = 0, targets = 0;
  bool hasOutgoing = false;
  /// One entry per edge.
  std::vector<int64_t> source, target, relation, sourcePair, targetPair;
  Pairs sourcePairs, targetPairs;

  int64_t edges() const { return source.size(); }
  const Pairs &pairs(Direction direction) const {
    return direction == Direction::Incoming ? targetPairs : sourcePairs;
  }
  /// Returns the number of rows of a space.
  int64_t rows(Space space) const;
  /// Returns the row of a space that edge `edge` refers to.
  int64_t rowOfEdge(Space space, int64_t edge) const;
  /// Returns the row of a space that pair `pair` of a direction refers to.
  int64_t rowOfPair(Space space, Direction direction, int64_t pair) const;

  /// Reads the operands of a graph op; emits an error if they do not describe a
  /// single graph.
  static mlir::FailureOr<HostGraph> check(GraphOp op,
                                          llvm::ArrayRef<HostTensor> operands);
  /// Packs the graph into one value of the interpreter; unpack() restores it.
  HostTensor pack() const;
  static HostGraph unpack(const HostTensor &packed);
};

} // namespace drawloom::rgnn

#endif // DRAWLOOM_DIALECTS_RGNN_HOSTGRAPH_H
