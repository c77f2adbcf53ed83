/*===- graph.h - index arrays of graphs
 * --------------------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Makes the operands of the op rgnn.graph from lists of edges. In
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
  /** sizeof(DrawloomEdges), so that later ones can have more. */
  size_t size;
  /** How many there are. */
  int64_t sources, targets, relations, edges;
  /** By edge; `relation` may be NULL where there is one. */
  const void *source, *target, *relation;
  /** DRAWLOOM_I32 or DRAWLOOM_I64, of all three. */
  DrawloomElement element;
  /** Nodes of a block and pairs of a tile; 0 for 1024 and 16. */
  int64_t rowsPerBlock, tileRows;
} DrawloomEdges;

/** Sorts edges by both of their ends. An index out of range is an error that
 * names the first edge that has one. Nothing of `edges` is needed after the
 * call. */
DRAWLOOM_API DrawloomError *drawloomGraphBuild(const DrawloomEdges *edges,
                                               DrawloomGraph **graph);
DRAWLOOM_API void drawloomGraphDestroy(DrawloomGraph *graph);

/** The 19 operands of rgnn.graph: 9 of incoming, 10 of outgoing edges. */
#define DRAWLOOM_GRAPH_ARRAYS 19
/** An array of 32-bit integers, `rows` by `columns` (1 of a list), which lives
 * as long as the graph. */
DRAWLOOM_API const int32_t *drawloomGraphArray(const DrawloomGraph *graph,
                                               size_t index, int64_t *rows,
                                               int64_t *columns);
/** Which of the given edges each edge of the graph is. */
DRAWLOOM_API const int32_t *drawloomGraphEdges(const DrawloomGraph *graph);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_GRAPH_H */
