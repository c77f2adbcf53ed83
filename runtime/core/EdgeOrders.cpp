//===- EdgeOrders.cpp - a graph's edges, sorted for both ends -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An edge's near node, relation, far node and number are packed into one
// integer, which radix sort puts in order, some bits at a time.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/EdgeOrders.h"
#include <algorithm>
#include <cstddef>
#include <limits>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace drawloom::runtime {

namespace {

/// Indices that have been checked.
template <typename Index> struct Lists {
  const Index *source, *target, *relation;
  int32_t relationOf(int64_t i) const {
    return relation ? static_cast<int32_t>(relation[i]) : 0;
  }
};

} // namespace

void *allocateLarge(size_t bytes) {
  constexpr size_t page = size_t(2) << 20;
  bool large = bytes >= page / 2;
  void *memory = nullptr;
  if (!large)
    memory = std::malloc(std::max<size_t>(bytes, 1));
  else if (::posix_memalign(&memory, page, bytes) != 0)
    memory = nullptr;
  if (!memory)
    throw std::bad_alloc();
  // Where the system says no, pages are small.
  if (large)
    ::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

static std::string outOfRange(const char *what, int64_t edge, int64_t index,
                              int64_t count, const char *of) {
  return std::string(what) + " " + std::to_string(index) + " of edge " +
         std::to_string(edge) + " is out of range: there are " +
         std::to_string(count) + " " + of;
}

/// Refuses the first edge that has an index out of range.
template <typename Index>
static Status check(const EdgeList &list, const Lists<Index> &lists) {
  using Unsigned = std::make_unsigned_t<Index>;
  auto isIn = [](Index index, int64_t count) {
    return static_cast<Unsigned>(index) < static_cast<Unsigned>(count);
  };
  // Without a way out of the loop it is done in vectors.
  bool ok = true;
  auto look = [&](const Index *indices, int64_t count) {
    for (int64_t i = 0; indices && i < list.edges; ++i)
      ok &= isIn(indices[i], count);
  };
  look(lists.source, list.sources);
  look(lists.target, list.targets);
  look(lists.relation, list.relations);
  for (int64_t i = 0; !ok && i < list.edges; ++i) {
    int64_t u = lists.source[i], v = lists.target[i];
    int64_t r = lists.relation ? lists.relation[i] : 0;
    if (!isIn(u, list.sources))
      return Status::error(outOfRange("source", i, u, list.sources, "sources"));
    if (!isIn(v, list.targets))
      return Status::error(outOfRange("target", i, v, list.targets, "targets"));
    if (!isIn(r, list.relations))
      return Status::error(
          outOfRange("relation", i, r, list.relations, "relations"));
  }
  return Status();
}

namespace {

/// How many bits numbers below `count` have.
unsigned bitsFor(int64_t count) {
  unsigned bits = 0;
  while (bits < 63 && (int64_t(1) << bits) < count)
    ++bits;
  return bits;
}

/// Edges as integers: near node, relation, far node and number, from the
/// highest bit down.
template <typename Word> struct Packing {
  unsigned near, relation, far, number;
  Packing(int64_t nearNodes, int64_t relations, int64_t farNodes, int64_t edges)
      : near(bitsFor(nearNodes)), relation(bitsFor(relations)),
        far(bitsFor(farNodes)), number(bitsFor(edges)) {}
  unsigned bits() const { return near + relation + far + number; }

  Word pack(int64_t nearNode, int64_t relationOf, int64_t farNode,
            int64_t i) const {
    return (((((static_cast<Word>(nearNode) << relation) |
               static_cast<Word>(relationOf))
              << far) |
             static_cast<Word>(farNode))
            << number) |
           static_cast<Word>(i);
  }
  /// The number of near node and relation in one.
  int64_t pairOf(Word word) const {
    return static_cast<int64_t>(word >> (number + far));
  }
  int32_t nearOf(Word word) const {
    return static_cast<int32_t>(word >> (number + far + relation));
  }
  int32_t relationOf(Word word) const {
    return field(word, number + far, relation);
  }
  int32_t farOf(Word word) const { return field(word, number, far); }
  int32_t numberOf(Word word) const { return field(word, 0, number); }

private:
  static int32_t field(Word word, unsigned from, unsigned bits) {
    return static_cast<int32_t>(static_cast<int64_t>(word >> from) &
                                ((int64_t(1) << bits) - 1));
  }
};

} // namespace

/// Sorts words by the bits from `from` up to `to`; equal ones stay in their
/// order. `other` is of the same size.
template <typename Word>
static void sortByBits(LargeArray<Word> &words, LargeArray<Word> &other,
                       unsigned from, unsigned to) {
  constexpr unsigned most = 10;
  unsigned passes = (to - from + most - 1) / most;
  for (unsigned pass = 0; pass < passes; ++pass) {
    unsigned bits = (to - from) / (passes - pass);
    size_t mask = (size_t(1) << bits) - 1;
    size_t places[size_t(1) << most] = {};
    for (Word word : words)
      ++places[static_cast<size_t>(word >> from) & mask];
    size_t before = 0;
    for (size_t digit = 0; digit <= mask; ++digit)
      before += std::exchange(places[digit], before);
    for (Word word : words)
      other[places[static_cast<size_t>(word >> from) & mask]++] = word;
    words.swap(other);
    from += bits;
  }
}

/// Fills what one order says of nodes, pairs and edges. `pairOf` gets the pair
/// of each of the edges.
template <typename Word>
static void fillPairs(const LargeArray<Word> &words,
                      const Packing<Word> &packing, int64_t nodes,
                      EdgeOrder &order, LargeArray<int32_t> &pairOf) {
  size_t edges = words.size();
  order.nodePairs.resize(nodes + 1);
  order.far.resize(edges);
  order.pairRelation.resize(edges);
  order.pairEdges.resize(edges + 1);
  pairOf.resize(edges);
  int64_t last = -1, node = 0;
  int32_t pairs = 0;
  for (size_t i = 0; i < edges; ++i) {
    Word word = words[i];
    if (int64_t pair = packing.pairOf(word); pair != last) {
      last = pair;
      for (int64_t near = packing.nearOf(word); node <= near; ++node)
        order.nodePairs[node] = pairs;
      order.pairRelation[pairs] = packing.relationOf(word);
      order.pairEdges[pairs] = static_cast<int32_t>(i);
      ++pairs;
    }
    order.far[i] = packing.farOf(word);
    pairOf[i] = pairs - 1;
  }
  for (; node <= nodes; ++node)
    order.nodePairs[node] = pairs;
  order.pairEdges[pairs] = static_cast<int32_t>(edges);
  order.pairRelation.resize(pairs);
  order.pairEdges.resize(pairs + 1);
}

/// Puts the pairs of each block of nodes in tiles by relation.
static void fillTiles(EdgeOrder &order, int64_t relations, int64_t rowsPerBlock,
                      int64_t tileRows) {
  int64_t nodes = static_cast<int64_t>(order.nodePairs.size()) - 1;
  order.blockTiles.push_back(0);
  // Each relation of a block may leave its last tile with one pair.
  size_t pairs = order.pairRelation.size();
  size_t blocks = (nodes + rowsPerBlock - 1) / rowsPerBlock;
  size_t mostTiles =
      pairs / tileRows + std::min<size_t>(pairs, blocks * relations);
  order.tileRelation.reserve(mostTiles);
  order.tilePair.reserve(mostTiles * tileRows);
  order.tileNode.reserve(mostTiles * tileRows);
  // By relation: how many pairs of the block have it, then where the next goes.
  std::vector<int64_t> places(relations);
  std::vector<int32_t> present;
  for (int64_t first = 0; first < nodes; first += rowsPerBlock) {
    int64_t last = std::min(nodes, first + rowsPerBlock);
    present.clear();
    for (int32_t p = order.nodePairs[first]; p < order.nodePairs[last]; ++p)
      if (places[order.pairRelation[p]]++ == 0)
        present.push_back(order.pairRelation[p]);
    std::sort(present.begin(), present.end());
    for (int32_t relation : present) {
      int64_t tiles = (places[relation] + tileRows - 1) / tileRows;
      places[relation] =
          static_cast<int64_t>(order.tileRelation.size()) * tileRows;
      order.tileRelation.insert(order.tileRelation.end(), tiles, relation);
    }
    order.tilePair.resize(order.tileRelation.size() * tileRows, -1);
    order.tileNode.resize(order.tileRelation.size() * tileRows, -1);
    for (int64_t node = first; node < last; ++node)
      for (int32_t p = order.nodePairs[node]; p < order.nodePairs[node + 1];
           ++p) {
        int64_t place = places[order.pairRelation[p]]++;
        order.tilePair[place] = p;
        order.tileNode[place] = static_cast<int32_t>(node);
      }
    for (int32_t relation : present)
      places[relation] = 0;
    order.blockTiles.push_back(static_cast<int32_t>(order.tileRelation.size()));
  }
}

template <typename Word, typename Index>
static EdgeOrders order(const EdgeList &list, const Lists<Index> &lists) {
  EdgeOrders orders;
  size_t edges = list.edges;
  LargeArray<Word> words(edges), other(edges);
  Packing<Word> in(list.targets, list.relations, list.sources, list.edges);
  for (size_t i = 0; i < edges; ++i)
    words[i] = in.pack(lists.target[i], lists.relationOf(i), lists.source[i],
                       static_cast<int64_t>(i));
  sortByBits(words, other, in.number, in.bits());
  LargeArray<int32_t> targetPair, sourcePair;
  fillPairs(words, in, list.targets, orders.incoming, targetPair);
  // Edges are numbered in this order. They come by target: those of one pair
  // stay in that order.
  Packing<Word> out(list.sources, list.relations, list.targets, list.edges);
  orders.given.resize(edges);
  for (size_t i = 0; i < edges; ++i) {
    Word word = words[i];
    orders.given[i] = in.numberOf(word);
    words[i] = out.pack(in.farOf(word), in.relationOf(word), in.nearOf(word),
                        static_cast<int64_t>(i));
  }
  sortByBits(words, other, out.number + out.far, out.bits());
  fillPairs(words, out, list.sources, orders.outgoing, sourcePair);

  orders.incoming.farPair.resize(edges);
  orders.outgoing.farPair.resize(edges);
  orders.outgoing.edge.resize(edges);
  for (size_t i = 0; i < edges; ++i) {
    int32_t number = out.numberOf(words[i]);
    orders.outgoing.edge[i] = number;
    orders.outgoing.farPair[i] = targetPair[number];
    orders.incoming.farPair[number] = sourcePair[i];
  }
  return orders;
}

template <typename Index>
static Result<EdgeOrders> order(const EdgeList &list) {
  Lists<Index> lists = {static_cast<const Index *>(list.source),
                        static_cast<const Index *>(list.target),
                        static_cast<const Index *>(list.relation)};
  if (Status status = check(list, lists); !status.ok())
    return status;
  Packing<uint64_t> packing(list.targets, list.relations, list.sources,
                            list.edges);
  // A shift by all 64 would be none.
  if (packing.bits() < 64)
    return order<uint64_t>(list, lists);
  return order<unsigned __int128>(list, lists);
}

Result<EdgeOrders> orderEdges(const EdgeList &list, int64_t rowsPerBlock,
                              int64_t tileRows) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max() - 1;
  if (rowsPerBlock < 1 || tileRows < 1 || tileRows > most)
    return Status::error("a block has at least one row, and a tile, too");
  if (list.relations < 1)
    return Status::error("there is no relation; a graph has at least one");
  // A tile may hold a single pair.
  if (list.edges < 0 || list.sources < 0 || list.targets < 0 ||
      list.sources > most || list.targets > most || list.relations > most ||
      list.edges > most / tileRows)
    return Status::error("the graph has " + std::to_string(list.edges) +
                         " edges, " + std::to_string(list.sources) +
                         " sources, " + std::to_string(list.targets) +
                         " targets and " + std::to_string(list.relations) +
                         " relations; nodes and relations are counted by 32 "
                         "bits, and edges by " +
                         std::to_string(most / tileRows));
  Result<EdgeOrders> sorted =
      list.wide ? order<int64_t>(list) : order<int32_t>(list);
  if (!sorted.ok())
    return sorted;
  EdgeOrders &orders = *sorted;
  fillTiles(orders.incoming, list.relations, rowsPerBlock, tileRows);
  fillTiles(orders.outgoing, list.relations, rowsPerBlock, tileRows);
  return sorted;
}

} // namespace drawloom::runtime
