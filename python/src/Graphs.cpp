//===- Graphs.cpp - index arrays of graphs --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"
#include "Objects.h"
#include "drawloom-c/graph.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

namespace nb = nanobind;

namespace drawloom::python {

namespace {
using Indices = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<nb::numpy, int32_t>;

/// A list of edges' indices.
const void *indices(const Indices &array, bool &wide) {
  wide = array.dtype() == nb::dtype<int64_t>();
  return array.data();
}
} // namespace

/// The arrays of both orders, then which of the edges given each edge is.
/// Arguments have been checked in Python: dense arrays of one type and length.
static nb::list buildGraph(const Indices &source, const Indices &target,
                           std::optional<Indices> relation, int64_t sources,
                           int64_t targets, int64_t relations,
                           int64_t rowsPerBlock, int64_t tileRows) {
  DrawloomEdges edges = {};
  edges.size = sizeof(edges);
  edges.sources = sources;
  edges.targets = targets;
  edges.relations = relations;
  edges.edges = static_cast<int64_t>(source.shape(0));
  bool wide = false;
  edges.source = indices(source, wide);
  edges.target = indices(target, wide);
  edges.relation = relation ? indices(*relation, wide) : nullptr;
  edges.element = wide ? DRAWLOOM_I64 : DRAWLOOM_I32;
  edges.rowsPerBlock = rowsPerBlock;
  edges.tileRows = tileRows;
  DrawloomGraph *graph = nullptr;
  DrawloomError *error = nullptr;
  {
    // Workers of a data loader build graphs side by side.
    nb::gil_scoped_release unlocked;
    error = drawloomGraphBuild(&edges, &graph);
  }
  if (error)
    raise(error);
  nb::capsule owner(graph, [](void *owned) noexcept {
    drawloomGraphDestroy(static_cast<DrawloomGraph *>(owned));
  });
  nb::list arrays;
  auto append = [&](const int32_t *data, int64_t rows, int64_t columns,
                    size_t rank) {
    size_t shape[] = {static_cast<size_t>(rows), static_cast<size_t>(columns)};
    arrays.append(
        nb::cast(Integers(const_cast<int32_t *>(data), rank, shape, owner)));
  };
  for (size_t i = 0; i < DRAWLOOM_GRAPH_ARRAYS; ++i) {
    int64_t rows = 0, columns = 0;
    const int32_t *data = drawloomGraphArray(graph, i, &rows, &columns);
    append(data, rows, columns, i % 9 == 7 || i % 9 == 8 ? 2 : 1);
  }
  append(drawloomGraphEdges(graph), edges.edges, 1, 1);
  return arrays;
}

void addGraphs(nb::module_ &m) {
  m.def("build_graph", &buildGraph, nb::arg("source"), nb::arg("target"),
        nb::arg("relation").none(), nb::arg("sources"), nb::arg("targets"),
        nb::arg("relations"), nb::arg("rows_per_block"), nb::arg("tile_rows"),
        "The operands of rgnn.graph for lists of edges, then which of these "
        "each edge is.");
}

} // namespace drawloom::python
