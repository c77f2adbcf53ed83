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
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace drawloom::runtime {

/// Edges as lists, in any order. Indices have 32 or 64 bits.
struct EdgeList {
  int64_t sources = 0, targets = 0, relations = 1, edges = 0;
  const void *source = nullptr, *target = nullptr;
  /// Null if there is only one relation.
  const void *relation = nullptr;
  bool wide = false;
};

/// Throws std::bad_alloc on failure; free the memory with std::free.
void *allocateLarge(size_t bytes);

/// Allocator for arrays that are written before they are read. It uses large
/// pages if available: getting small ones from the system takes as long as
/// sorting.
template <typename T> struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <typename U> LargePages(const LargePages<U> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(allocateLarge(count * sizeof(T)));
  }
  void deallocate(T *array, size_t) { std::free(array); }
  template <typename U> void construct(U *at) { ::new (at) U; }
  template <typename U, typename... Args>
  void construct(U *at, Args &&...args) {
    ::new (at) U(std::forward<Args>(args)...);
  }
  bool operator==(const LargePages &) const { return true; }
  bool operator!=(const LargePages &) const { return false; }
};
template <typename T> using LargeArray = std::vector<T, LargePages<T>>;

/// The arrays of one order of the edges, as the op rgnn.graph describes them.
struct EdgeOrder {
  LargeArray<int32_t> nodePairs, pairRelation, pairEdges, far, farPair;
  LargeArray<int32_t> blockTiles, tileRelation, tilePair, tileNode;
  /// For outgoing edges only.
  LargeArray<int32_t> edge;
};

struct EdgeOrders {
  EdgeOrder incoming, outgoing;
  /// Maps each edge to its index in the given list. Parallel edges keep their
  /// order.
  LargeArray<int32_t> given;
};

/// Sorts edges by both of their ends. Fails if an index is out of range, naming
/// the first such edge, or if a count overflows 32 bits.
Result<EdgeOrders> orderEdges(const EdgeList &list, int64_t rowsPerBlock,
                              int64_t tileRows);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_EDGEORDERS_H
