/*===- graph.h - index arrays of graphs
 * --------------------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Makes the operands of the op rgnn.graph from lists of edges. Part of
 * libdrawloom_runtime.so and libdrawloom.so.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_C_GRAPH_H
#define DRAWLOOM_C_GRAPH_H

#include "drawloom-c/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DrawloomGraph DrawloomGraph;

typedef struct DrawloomEdges {
  /** Set to sizeof(DrawloomEdges), so that later versions can add fields. */
  size_t size;
  /** Number of source nodes, target nodes, relations and edges. */
  int64_t sources, targets, relations, edges;
  /** Source, target and relation of each edge; `relation` may be NULL if there
   * is only one relation. */
  const void *source, *target, *relation;
  /** Element type of all three arrays: DRAWLOOM_I32 or DRAWLOOM_I64. */
  DrawloomElement element;
  /** Nodes per block and pairs per tile; 0 selects the defaults, 1024 and
   * 16. */
  int64_t rowsPerBlock, tileRows;
} DrawloomEdges;

/** Sorts edges by both of their ends. If an index is out of range, the error
 * names the first such edge. `edges` is not needed after the call. */
DRAWLOOM_API DrawloomError *drawloomGraphBuild(const DrawloomEdges *edges,
                                               DrawloomGraph **graph);
DRAWLOOM_API void drawloomGraphDestroy(DrawloomGraph *graph);

/** Number of operands of rgnn.graph: 9 for incoming and 10 for outgoing
 * edges. */
#define DRAWLOOM_GRAPH_ARRAYS 19
/** Returns an array of 32-bit integers of shape `rows` x `columns` (1 column
 * for a list), which lives as long as the graph. */
DRAWLOOM_API const int32_t *drawloomGraphArray(const DrawloomGraph *graph,
                                               size_t index, int64_t *rows,
                                               int64_t *columns);
/** Returns, for each edge of the graph, its index in the given list of
 * edges. */
DRAWLOOM_API const int32_t *drawloomGraphEdges(const DrawloomGraph *graph);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_GRAPH_H */
