//===- HostGraph.cpp - a graph, for the interpreter -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/HostGraph.h"

using namespace mlir;

namespace drawloom::rgnn {

int64_t HostGraph::rows(Space space) const {
  switch (space) {
  case Space::Src:
    return sources;
  case Space::Dst:
    return targets;
  case Space::SrcRel:
    return sourcePairs.node.size();
  case Space::DstRel:
    return targetPairs.node.size();
  case Space::Edge:
    return edges();
  case Space::Rel:
    return relations;
  case Space::All:
    return 1;
  }
  llvm_unreachable("there are seven spaces");
}

int64_t HostGraph::rowOfEdge(Space space, int64_t edge) const {
  switch (space) {
  case Space::Src:
    return source[edge];
  case Space::Dst:
    return target[edge];
  case Space::SrcRel:
    return sourcePair[edge];
  case Space::DstRel:
    return targetPair[edge];
  case Space::Edge:
    return edge;
  case Space::Rel:
    return relation[edge];
  case Space::All:
    return 0;
  }
  llvm_unreachable("there are seven spaces");
}

int64_t HostGraph::rowOfPair(Space space, Direction direction,
                             int64_t pair) const {
  if (space == Space::All)
    return 0;
  if (space == Space::Rel)
    return pairs(direction).relation[pair];
  return space == nodesOf(direction) ? pairs(direction).node[pair] : pair;
}

namespace {

/// The arrays of one order, as they are given.
struct HostOrder {
  StringRef name;
  ArrayRef<int64_t> nodePairs, pairRelation, pairEdges, far, farPair;
  ArrayRef<int64_t> blockTiles, tileRelation, tilePair, tileNode, edge;
  int64_t nodes, pairs, edges, tiles, tileRows;

  HostOrder(StringRef name, ArrayRef<HostTensor> arrays)
      : name(name), nodePairs(arrays[0].i()), pairRelation(arrays[1].i()),
        pairEdges(arrays[2].i()), far(arrays[3].i()), farPair(arrays[4].i()),
        blockTiles(arrays[5].i()), tileRelation(arrays[6].i()),
        tilePair(arrays[7].i()), tileNode(arrays[8].i()),
        nodes(arrays[0].size() - 1), pairs(arrays[1].size()),
        edges(arrays[3].size()), tiles(arrays[6].size()),
        tileRows(arrays[7].dim(1)) {
    if (arrays.size() > 9)
      edge = arrays[9].i();
  }
};

/// Checks the arrays of a graph one after another.
class Checker {
public:
  explicit Checker(GraphOp op) : op(op) {}

  LogicalResult checkOrder(const HostOrder &order);
  LogicalResult checkTiles(const HostOrder &order);
  LogicalResult checkBoth(const HostOrder &in, const HostOrder &out,
                          const HostGraph &graph);

private:
  LogicalResult wrong(const HostOrder &order, StringRef array, int64_t at,
                      const Twine &what) {
    return op.emitOpError("'")
           << order.name << "' is not an order of the edges: entry " << at
           << " of " << array << " " << what;
  }
  /// An array of where parts start: from 0 to `total`, never down.
  LogicalResult checkStarts(const HostOrder &order, StringRef array,
                            ArrayRef<int64_t> starts, int64_t total);

  GraphOp op;
};

LogicalResult Checker::checkStarts(const HostOrder &order, StringRef array,
                                   ArrayRef<int64_t> starts, int64_t total) {
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t least = i ? starts[i - 1] : 0;
    if (starts[i] < least || starts[i] > total || (!i && starts[i]))
      return wrong(order, array, i,
                   "is " + Twine(starts[i]) + ", not between " + Twine(least) +
                       " and " + Twine(i ? total : 0));
  }
  if (starts.back() != total)
    return wrong(order, array, starts.size() - 1,
                 "is " + Twine(starts.back()) + ", not " + Twine(total));
  return success();
}

LogicalResult Checker::checkOrder(const HostOrder &order) {
  if (failed(checkStarts(order, "node_pairs", order.nodePairs, order.pairs)) ||
      failed(checkStarts(order, "pair_edges", order.pairEdges, order.edges)))
    return failure();
  int64_t relations = op.getRelations();
  for (int64_t node = 0; node < order.nodes; ++node)
    for (int64_t p = order.nodePairs[node]; p < order.nodePairs[node + 1];
         ++p) {
      int64_t least =
          p > order.nodePairs[node] ? order.pairRelation[p - 1] + 1 : 0;
      int64_t relation = order.pairRelation[p];
      if (relation < least || relation >= relations)
        return wrong(order, "pair_relation", p,
                     "is " + Twine(relation) + ", not between " + Twine(least) +
                         " and " + Twine(relations - 1));
      if (order.pairEdges[p] == order.pairEdges[p + 1])
        return wrong(order, "pair_edges", p + 1,
                     "leaves pair " + Twine(p) + " without an edge");
    }
  for (int64_t i = 0; i < order.edges; ++i)
    if (order.far[i] < 0)
      return wrong(order, "far", i, "is " + Twine(order.far[i]));
  return checkTiles(order);
}

LogicalResult Checker::checkTiles(const HostOrder &order) {
  int64_t rows = op.getRowsPerBlock();
  int64_t blocks = llvm::divideCeil(order.nodes, rows);
  if (static_cast<int64_t>(order.blockTiles.size()) != blocks + 1)
    return op.emitOpError("'")
           << order.name << "' has block_tiles for "
           << order.blockTiles.size() - 1 << " blocks, but " << order.nodes
           << " nodes make " << blocks << " blocks of " << rows;
  if (failed(checkStarts(order, "block_tiles", order.blockTiles, order.tiles)))
    return failure();
  std::vector<bool> listed(order.pairs);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t tile = order.blockTiles[block];
         tile < order.blockTiles[block + 1]; ++tile)
      for (int64_t i = tile * order.tileRows; i < (tile + 1) * order.tileRows;
           ++i) {
        int64_t pair = order.tilePair[i], node = order.tileNode[i];
        if (pair == -1 && node == -1)
          continue;
        if (pair < 0 || pair >= order.pairs || listed[pair])
          return wrong(order, "tile_pair", i,
                       "is " + Twine(pair) +
                           ", which is no pair or has come before");
        listed[pair] = true;
        if (node < 0 || node >= order.nodes || node / rows != block ||
            pair < order.nodePairs[node] || pair >= order.nodePairs[node + 1])
          return wrong(order, "tile_node", i,
                       "is " + Twine(node) +
                           ", which is not the node of pair " + Twine(pair) +
                           " in block " + Twine(block));
        if (order.pairRelation[pair] != order.tileRelation[tile])
          return wrong(order, "tile_relation", tile,
                       "is " + Twine(order.tileRelation[tile]) + ", but pair " +
                           Twine(pair) + " has relation " +
                           Twine(order.pairRelation[pair]));
      }
  auto missing = llvm::find(listed, false);
  if (missing != listed.end())
    return op.emitOpError("'") << order.name << "' has pair "
                               << missing - listed.begin() << " in no tile";
  return success();
}

LogicalResult Checker::checkBoth(const HostOrder &in, const HostOrder &out,
                                 const HostGraph &graph) {
  if (in.edges != out.edges)
    return op.emitOpError("'incoming' has ")
           << in.edges << " edges and 'outgoing' " << out.edges;
  std::vector<bool> listed(in.edges);
  for (int64_t node = 0; node < out.nodes; ++node)
    for (int64_t p = out.nodePairs[node]; p < out.nodePairs[node + 1]; ++p)
      for (int64_t i = out.pairEdges[p]; i < out.pairEdges[p + 1]; ++i) {
        int64_t edge = out.edge[i];
        if (edge < 0 || edge >= in.edges || listed[edge])
          return wrong(out, "edge", i,
                       "is " + Twine(edge) +
                           ", which is no edge or has come before");
        listed[edge] = true;
        if (graph.source[edge] != node || graph.target[edge] != out.far[i] ||
            graph.relation[edge] != out.pairRelation[p])
          return wrong(out, "edge", i,
                       "is " + Twine(edge) + ", which goes from " +
                           Twine(graph.source[edge]) + " to " +
                           Twine(graph.target[edge]) + " by relation " +
                           Twine(graph.relation[edge]) +
                           " in 'incoming', not from " + Twine(node) + " to " +
                           Twine(out.far[i]) + " by relation " +
                           Twine(out.pairRelation[p]));
        if (out.farPair[i] != graph.targetPair[edge])
          return wrong(out, "far_pair", i,
                       "is " + Twine(out.farPair[i]) + ", not " +
                           Twine(graph.targetPair[edge]));
        if (in.farPair[edge] != p)
          return wrong(in, "far_pair", edge,
                       "is " + Twine(in.farPair[edge]) + ", not " + Twine(p));
      }
  return success();
}

/// The nodes of an order's pairs, beside their relations.
HostGraph::Pairs pairsOfOrder(const HostOrder &order) {
  HostGraph::Pairs pairs;
  pairs.relation = order.pairRelation.vec();
  pairs.node.resize(order.pairs);
  for (int64_t node = 0; node < order.nodes; ++node)
    for (int64_t p = order.nodePairs[node]; p < order.nodePairs[node + 1]; ++p)
      pairs.node[p] = node;
  return pairs;
}

} // namespace

FailureOr<HostGraph> HostGraph::check(GraphOp op,
                                      ArrayRef<HostTensor> operands) {
  Checker checker(op);
  HostOrder in("incoming", operands.take_front(Order::incomingArrays));
  if (failed(checker.checkOrder(in)))
    return failure();
  HostGraph graph;
  graph.relations = op.getRelations();
  graph.targets = in.nodes;
  graph.targetPairs = pairsOfOrder(in);
  graph.source = in.far.vec();
  graph.sourcePair = in.farPair.vec();
  for (int64_t p = 0; p < in.pairs; ++p) {
    int64_t count = in.pairEdges[p + 1] - in.pairEdges[p];
    graph.targetPair.insert(graph.targetPair.end(), count, p);
    graph.target.insert(graph.target.end(), count, graph.targetPairs.node[p]);
    graph.relation.insert(graph.relation.end(), count, in.pairRelation[p]);
  }
  if (op.getOutgoing().empty())
    return graph;
  HostOrder out("outgoing", operands.drop_front(Order::incomingArrays));
  if (failed(checker.checkOrder(out)) ||
      failed(checker.checkBoth(in, out, graph)))
    return failure();
  graph.hasOutgoing = true;
  graph.sources = out.nodes;
  graph.sourcePairs = pairsOfOrder(out);
  return graph;
}

/// What makes up a packed graph, behind its numbers.
static std::array<std::vector<int64_t> *, 9> partsOf(HostGraph &graph) {
  return {&graph.source,
          &graph.target,
          &graph.relation,
          &graph.sourcePair,
          &graph.targetPair,
          &graph.sourcePairs.node,
          &graph.sourcePairs.relation,
          &graph.targetPairs.node,
          &graph.targetPairs.relation};
}

HostTensor HostGraph::pack() const {
  HostGraph copy = *this;
  std::vector<int64_t> all = {relations, sources, targets, hasOutgoing};
  for (std::vector<int64_t> *part : partsOf(copy)) {
    all.push_back(part->size());
    llvm::append_range(all, *part);
  }
  HostTensor packed(/*isFloat=*/false, {static_cast<int64_t>(all.size())});
  llvm::copy(all, packed.mutableI().begin());
  return packed;
}

HostGraph HostGraph::unpack(const HostTensor &packed) {
  ArrayRef<int64_t> all = packed.i();
  HostGraph graph;
  graph.relations = all[0];
  graph.sources = all[1];
  graph.targets = all[2];
  graph.hasOutgoing = all[3];
  all = all.drop_front(4);
  for (std::vector<int64_t> *part : partsOf(graph)) {
    int64_t size = all.front();
    *part = all.slice(1, size).vec();
    all = all.drop_front(1 + size);
  }
  return graph;
}

} // namespace drawloom::rgnn
