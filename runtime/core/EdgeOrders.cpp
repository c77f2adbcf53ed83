//===- EdgeOrders.cpp - a graph's edges, sorted for both ends -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counting sorts, last key first: each keeps the order of the one before where
// its keys are equal.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/EdgeOrders.h"
#include <algorithm>
#include <limits>

namespace drawloom::runtime {

namespace {

struct Edge {
  int32_t source, target, relation, number;
};
using Edges = std::vector<Edge>;

/// One end of the edges.
struct End {
  int32_t Edge::*near;
  int32_t Edge::*far;
  int64_t nodes;
};

} // namespace

static std::string outOfRange(const char *what, int64_t edge, int64_t index,
                              int64_t count, const char *of) {
  return std::string(what) + " " + std::to_string(index) + " of edge " +
         std::to_string(edge) + " is out of range: there are " +
         std::to_string(count) + " " + of;
}

template <typename Index> static Result<Edges> readEdges(const EdgeList &list) {
  auto *source = static_cast<const Index *>(list.source);
  auto *target = static_cast<const Index *>(list.target);
  auto *relation = static_cast<const Index *>(list.relation);
  Edges edges(list.edges);
  for (int64_t i = 0; i < list.edges; ++i) {
    int64_t u = source[i], v = target[i], r = relation ? relation[i] : 0;
    if (u < 0 || u >= list.sources)
      return Status::error(outOfRange("source", i, u, list.sources, "sources"));
    if (v < 0 || v >= list.targets)
      return Status::error(outOfRange("target", i, v, list.targets, "targets"));
    if (r < 0 || r >= list.relations)
      return Status::error(
          outOfRange("relation", i, r, list.relations, "relations"));
    edges[i] = {static_cast<int32_t>(u), static_cast<int32_t>(v),
                static_cast<int32_t>(r), static_cast<int32_t>(i)};
  }
  return edges;
}

/// Sorts by one key below `count`.
static void sortBy(Edges &edges, Edges &spare, int32_t Edge::*key,
                   int64_t count) {
  if (count <= 1)
    return;
  std::vector<int32_t> next(count + 1);
  for (const Edge &edge : edges)
    ++next[edge.*key + 1];
  for (int64_t i = 0; i < count; ++i)
    next[i + 1] += next[i];
  spare.resize(edges.size());
  for (const Edge &edge : edges)
    spare[next[edge.*key]++] = edge;
  edges.swap(spare);
}

/// Fills what one order says of nodes, pairs and edges. Returns the pair of
/// each of the edges.
static std::vector<int32_t> fillPairs(const Edges &edges, End end,
                                      EdgeOrder &order) {
  std::vector<int32_t> pairOf(edges.size());
  order.nodePairs.assign(end.nodes + 1, 0);
  order.far.resize(edges.size());
  order.pairEdges.push_back(0);
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge &edge = edges[i];
    if (i == 0 || edges[i - 1].*end.near != edge.*end.near ||
        edges[i - 1].relation != edge.relation) {
      order.pairRelation.push_back(edge.relation);
      order.pairEdges.push_back(0);
      ++order.nodePairs[edge.*end.near + 1];
    }
    order.pairEdges.back() = static_cast<int32_t>(i + 1);
    order.far[i] = edge.*end.far;
    pairOf[i] = static_cast<int32_t>(order.pairRelation.size() - 1);
  }
  for (int64_t node = 0; node < end.nodes; ++node)
    order.nodePairs[node + 1] += order.nodePairs[node];
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
  Result<Edges> read =
      list.wide ? readEdges<int64_t>(list) : readEdges<int32_t>(list);
  if (!read.ok())
    return read.status();
  Edges edges = std::move(*read), spare;
  EdgeOrders orders;

  sortBy(edges, spare, &Edge::source, list.sources);
  sortBy(edges, spare, &Edge::relation, list.relations);
  sortBy(edges, spare, &Edge::target, list.targets);
  orders.given.resize(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    orders.given[i] = edges[i].number;
    edges[i].number = static_cast<int32_t>(i);
  }
  std::vector<int32_t> targetPair = fillPairs(
      edges, {&Edge::target, &Edge::source, list.targets}, orders.incoming);

  // They are sorted by target within relations already.
  sortBy(edges, spare, &Edge::relation, list.relations);
  sortBy(edges, spare, &Edge::source, list.sources);
  std::vector<int32_t> sourcePair = fillPairs(
      edges, {&Edge::source, &Edge::target, list.sources}, orders.outgoing);

  orders.incoming.farPair.resize(edges.size());
  orders.outgoing.farPair.resize(edges.size());
  orders.outgoing.edge.resize(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    int32_t number = edges[i].number;
    orders.outgoing.edge[i] = number;
    orders.outgoing.farPair[i] = targetPair[number];
    orders.incoming.farPair[number] = sourcePair[i];
  }
  fillTiles(orders.incoming, list.relations, rowsPerBlock, tileRows);
  fillTiles(orders.outgoing, list.relations, rowsPerBlock, tileRows);
  return orders;
}

} // namespace drawloom::runtime
