//===- EdgeOrders.cpp - a graph's edges, sorted for both ends -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edges are counted and moved to their relations, then to their near nodes, in
// the order that they have. What a pair has is then sorted by the far node, if
// it did not come in that order: most pairs have a few.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/EdgeOrders.h"
#include <algorithm>
#include <cstddef>
#include <limits>

namespace drawloom::runtime {

namespace {

/// An edge of a node.
struct Member {
  int32_t relation, far, number;
  bool operator<(const Member &other) const { return far < other.far; }
};

/// Indices that have been checked.
template <typename Index> struct Lists {
  const Index *source, *target, *relation;
  int64_t edges;
  int32_t relationOf(int64_t i) const {
    return relation ? static_cast<int32_t>(relation[i]) : 0;
  }
};

} // namespace

static std::string outOfRange(const char *what, int64_t edge, int64_t index,
                              int64_t count, const char *of) {
  return std::string(what) + " " + std::to_string(index) + " of edge " +
         std::to_string(edge) + " is out of range: there are " +
         std::to_string(count) + " " + of;
}

/// Refuses the first edge that has an index out of range.
template <typename Index>
static Status check(const EdgeList &list, const Lists<Index> &lists) {
  for (int64_t i = 0; i < list.edges; ++i) {
    int64_t u = lists.source[i], v = lists.target[i];
    int64_t r = lists.relation ? lists.relation[i] : 0;
    if (u < 0 || u >= list.sources)
      return Status::error(outOfRange("source", i, u, list.sources, "sources"));
    if (v < 0 || v >= list.targets)
      return Status::error(outOfRange("target", i, v, list.targets, "targets"));
    if (r < 0 || r >= list.relations)
      return Status::error(
          outOfRange("relation", i, r, list.relations, "relations"));
  }
  return Status();
}

/// Sorts the edges of one pair; equal ones stay in their order.
static void sortMembers(Member *first, Member *last) {
  constexpr ptrdiff_t few = 32;
  if (last - first > few) {
    std::stable_sort(first, last);
    return;
  }
  for (Member *at = first; at < last; ++at) {
    Member member = *at;
    Member *to = at;
    for (; to > first && member < to[-1]; --to)
      *to = to[-1];
    *to = member;
  }
}

/// Counts: starts[k] becomes how many edges have less than k.
template <typename Key>
static void countBefore(int64_t edges, int64_t keys,
                        std::vector<int32_t> &starts, Key key) {
  starts.assign(keys + 1, 0);
  for (int64_t i = 0; i < edges; ++i)
    ++starts[key(i) + 1];
  for (int64_t k = 0; k < keys; ++k)
    starts[k + 1] += starts[k];
}

/// Edges by near node, then relation, then as they come. near(i) and member(i)
/// are of edge `i`; `starts` gets where the edges of each node begin.
template <typename Near, typename Of>
static std::vector<Member>
membersOfNodes(int64_t edges, int64_t relations, int64_t nodes,
               std::vector<int32_t> &starts, Near near, Of member) {
  std::vector<int32_t> turn, next;
  if (relations > 1) {
    auto relationOf = [&](int64_t i) { return member(i).relation; };
    countBefore(edges, relations, next, relationOf);
    turn.resize(edges);
    for (int64_t i = 0; i < edges; ++i)
      turn[next[relationOf(i)]++] = static_cast<int32_t>(i);
  }
  countBefore(edges, nodes, starts, near);
  next.assign(starts.begin(), starts.end() - 1);
  std::vector<Member> members(edges);
  for (int64_t at = 0; at < edges; ++at) {
    int64_t i = relations > 1 ? turn[at] : at;
    members[next[near(i)]++] = member(i);
  }
  return members;
}

/// Sorts the edges of each pair.
static void sortPairs(std::vector<Member> &members,
                      const std::vector<int32_t> &starts) {
  Member *at = members.data();
  for (size_t node = 0; node + 1 < starts.size(); ++node)
    for (Member *last = members.data() + starts[node + 1]; at < last;) {
      Member *end = at + 1;
      while (end < last && end->relation == at->relation)
        ++end;
      sortMembers(at, end);
      at = end;
    }
}

/// Fills what one order says of nodes, pairs and edges. Returns the pair of
/// each of the edges.
static std::vector<int32_t> fillPairs(const std::vector<Member> &members,
                                      const std::vector<int32_t> &starts,
                                      EdgeOrder &order) {
  std::vector<int32_t> pairOf(members.size());
  int64_t nodes = static_cast<int64_t>(starts.size()) - 1;
  order.nodePairs.assign(nodes + 1, 0);
  order.far.resize(members.size());
  order.pairRelation.reserve(members.size());
  order.pairEdges.reserve(members.size() + 1);
  for (int64_t node = 0; node < nodes; ++node) {
    for (int32_t i = starts[node]; i < starts[node + 1]; ++i) {
      if (i == starts[node] || members[i - 1].relation != members[i].relation) {
        order.pairRelation.push_back(members[i].relation);
        order.pairEdges.push_back(i);
      }
      order.far[i] = members[i].far;
      pairOf[i] = static_cast<int32_t>(order.pairRelation.size()) - 1;
    }
    order.nodePairs[node + 1] = static_cast<int32_t>(order.pairRelation.size());
  }
  order.pairEdges.push_back(static_cast<int32_t>(members.size()));
  return pairOf;
}

/// Puts the pairs of each block of nodes in tiles by relation.
static void fillTiles(EdgeOrder &order, int64_t relations, int64_t rowsPerBlock,
                      int64_t tileRows) {
  int64_t nodes = static_cast<int64_t>(order.nodePairs.size()) - 1;
  order.blockTiles.push_back(0);
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

template <typename Index>
static Result<EdgeOrders> order(const EdgeList &list) {
  Lists<Index> lists = {static_cast<const Index *>(list.source),
                        static_cast<const Index *>(list.target),
                        static_cast<const Index *>(list.relation), list.edges};
  if (Status status = check(list, lists); !status.ok())
    return status;
  EdgeOrders orders;
  std::vector<int32_t> starts;
  std::vector<Member> in = membersOfNodes(
      list.edges, list.relations, list.targets, starts,
      [&](int64_t i) { return lists.target[i]; },
      [&](int64_t i) -> Member {
        return {lists.relationOf(i), static_cast<int32_t>(lists.source[i]),
                static_cast<int32_t>(i)};
      });
  sortPairs(in, starts);
  std::vector<int32_t> targetPair = fillPairs(in, starts, orders.incoming);
  std::vector<int32_t> targetOf(list.edges);
  orders.given.resize(list.edges);
  for (int64_t node = 0; node < list.targets; ++node)
    for (int32_t i = starts[node]; i < starts[node + 1]; ++i) {
      targetOf[i] = static_cast<int32_t>(node);
      orders.given[i] = in[i].number;
    }
  // Edges come by target: those of one pair stay in that order.
  std::vector<Member> out = membersOfNodes(
      list.edges, list.relations, list.sources, starts,
      [&](int64_t i) { return in[i].far; },
      [&](int64_t i) -> Member {
        return {in[i].relation, targetOf[i], static_cast<int32_t>(i)};
      });
  std::vector<int32_t> sourcePair = fillPairs(out, starts, orders.outgoing);

  orders.incoming.farPair.resize(list.edges);
  orders.outgoing.farPair.resize(list.edges);
  orders.outgoing.edge.resize(list.edges);
  for (int64_t i = 0; i < list.edges; ++i) {
    int32_t number = out[i].number;
    orders.outgoing.edge[i] = number;
    orders.outgoing.farPair[i] = targetPair[number];
    orders.incoming.farPair[number] = sourcePair[i];
  }
  return orders;
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
