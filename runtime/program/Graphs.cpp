//===- Graphs.cpp - the C interface to orders of edges --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/graph.h"
#include "drawloom/runtime/EdgeOrders.h"
#include "runtime/program/Handles.h"
#include <algorithm>
#include <cstring>

using namespace drawloom::runtime;

struct DrawloomGraph {
  EdgeOrders orders;
  int64_t tileRows;
};

DrawloomError *drawloomGraphBuild(const DrawloomEdges *edges,
                                  DrawloomGraph **graph) {
  *graph = nullptr;
  DrawloomEdges given = {};
  std::memcpy(&given, edges, std::min(edges->size, sizeof(given)));
  if (given.element != DRAWLOOM_I32 && given.element != DRAWLOOM_I64)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "indices of edges are integers of 32 or 64 bits");
  int64_t tileRows = given.tileRows ? given.tileRows : 16;
  EdgeList list = {given.sources,   given.targets,
                   given.relations, given.edges,
                   given.source,    given.target,
                   given.relation,  given.element == DRAWLOOM_I64};
  Result<EdgeOrders> orders = orderEdges(
      list, given.rowsPerBlock ? given.rowsPerBlock : 1024, tileRows);
  if (!orders.ok())
    return makeError(DRAWLOOM_ERROR_CALL, orders.message());
  *graph = new DrawloomGraph{std::move(*orders), tileRows};
  return nullptr;
}

void drawloomGraphDestroy(DrawloomGraph *graph) { delete graph; }

const int32_t *drawloomGraphArray(const DrawloomGraph *graph, size_t index,
                                  int64_t *rows, int64_t *columns) {
  bool incoming = index < 9;
  const EdgeOrder &order =
      incoming ? graph->orders.incoming : graph->orders.outgoing;
  const LargeArray<int32_t> *arrays[] = {
      &order.nodePairs,    &order.pairRelation, &order.pairEdges,
      &order.far,          &order.farPair,      &order.blockTiles,
      &order.tileRelation, &order.tilePair,     &order.tileNode,
      &order.edge};
  size_t number = incoming ? index : index - 9;
  if (index >= DRAWLOOM_GRAPH_ARRAYS)
    return nullptr;
  const LargeArray<int32_t> &array = *arrays[number];
  *columns = number == 7 || number == 8 ? graph->tileRows : 1;
  *rows = static_cast<int64_t>(array.size()) / *columns;
  return array.data();
}

const int32_t *drawloomGraphEdges(const DrawloomGraph *graph) {
  return graph->orders.given.data();
}
