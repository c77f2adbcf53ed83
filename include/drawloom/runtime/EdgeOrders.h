//===- EdgeOrders.h - a graph's edges, sorted for both ends -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EDGEORDERS_H
#define DRAWLOOM_RUNTIME_EDGEORDERS_H

#include "drawloom/runtime/Status.h"
#include <cstdint>
#include <vector>

namespace drawloom::runtime {

/// Edges as lists, in any order. Indices have 32 or 64 bits.
struct EdgeList {
  int64_t sources = 0, targets = 0, relations = 1, edges = 0;
  const void *source = nullptr, *target = nullptr;
  /// Null where there is one relation.
  const void *relation = nullptr;
  bool wide = false;
};

/// The arrays of one order of the edges, as the op rgnn.graph describes them.
struct EdgeOrder {
  std::vector<int32_t> nodePairs, pairRelation, pairEdges, far, farPair;
  std::vector<int32_t> blockTiles, tileRelation, tilePair, tileNode;
  /// Of outgoing edges.
  std::vector<int32_t> edge;
};

struct EdgeOrders {
  EdgeOrder incoming, outgoing;
  /// Which of the edges given an edge is. Parallel edges stay in their order.
  std::vector<int32_t> given;
};

/// Sorts edges by both of their ends. Refuses indices out of range, by the
/// first edge that has one, and what 32 bits do not count.
Result<EdgeOrders> orderEdges(const EdgeList &list, int64_t rowsPerBlock,
                              int64_t tileRows);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_EDGEORDERS_H
