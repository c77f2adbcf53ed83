//===- GraphsTest.cpp - the C interface to orders of edges ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/graph.h"
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

/// Four edges among three nodes, with two relations.
class Graphs : public testing::Test {
protected:
  Graphs() {
    edges.size = sizeof(edges);
    edges.sources = edges.targets = 3;
    edges.relations = 2;
    edges.edges = 4;
    edges.source = source.data();
    edges.target = target.data();
    edges.relation = relation.data();
    edges.element = DRAWLOOM_I64;
    edges.rowsPerBlock = 2;
    edges.tileRows = 2;
  }
  std::vector<int32_t> array(size_t index) {
    int64_t rows = 0, columns = 0;
    const int32_t *data = drawloomGraphArray(graph, index, &rows, &columns);
    return {data, data + rows * columns};
  }
  std::string error() {
    DrawloomError *failed = drawloomGraphBuild(&edges, &graph);
    if (!failed)
      return "";
    std::string message = drawloomErrorMessage(failed);
    EXPECT_EQ(drawloomErrorCode(failed), DRAWLOOM_ERROR_CALL);
    drawloomErrorDestroy(failed);
    return message;
  }
  void TearDown() override { drawloomGraphDestroy(graph); }

  using Ints = std::vector<int32_t>;
  std::vector<int64_t> source = {2, 0, 1, 0}, target = {1, 0, 1, 0},
                       relation = {1, 0, 0, 0};
  DrawloomEdges edges = {};
  DrawloomGraph *graph = nullptr;
};

TEST_F(Graphs, AreSortedForBothEnds) {
  ASSERT_EQ(error(), "");
  // Incoming: pairs (0, 0), (1, 0), (1, 1) with 2, 1 and 1 edges.
  EXPECT_EQ(array(0), (Ints{0, 1, 3, 3}));
  EXPECT_EQ(array(1), (Ints{0, 0, 1}));
  EXPECT_EQ(array(2), (Ints{0, 2, 3, 4}));
  EXPECT_EQ(array(3), (Ints{0, 0, 1, 2}));
  EXPECT_EQ(array(4), (Ints{0, 0, 1, 2}));
  // One tile for each relation of the first block, none of the second.
  EXPECT_EQ(array(5), (Ints{0, 2, 2}));
  EXPECT_EQ(array(6), (Ints{0, 1}));
  EXPECT_EQ(array(7), (Ints{0, 1, 2, -1}));
  EXPECT_EQ(array(8), (Ints{0, 1, 1, -1}));
  // Outgoing: pairs (0, 0), (1, 0), (2, 1).
  EXPECT_EQ(array(9), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(array(18), (Ints{0, 1, 2, 3}));
  const int32_t *given = drawloomGraphEdges(graph);
  EXPECT_EQ(Ints(given, given + 4), (Ints{1, 3, 2, 0}));
}

TEST_F(Graphs, HaveNoMoreArrays) {
  ASSERT_EQ(error(), "");
  int64_t rows = 0, columns = 0;
  EXPECT_EQ(drawloomGraphArray(graph, DRAWLOOM_GRAPH_ARRAYS, &rows, &columns),
            nullptr);
}

TEST_F(Graphs, RefuseIndicesOutOfRange) {
  target[2] = 3;
  EXPECT_EQ(error(), "target 3 of edge 2 is out of range: there are 3 targets");
  EXPECT_EQ(graph, nullptr);
}

TEST_F(Graphs, RefuseOtherElements) {
  edges.element = DRAWLOOM_F32;
  EXPECT_EQ(error(), "indices of edges are integers of 32 or 64 bits");
}

TEST_F(Graphs, RefuseWhatIsNotCounted) {
  edges.edges = int64_t(1) << 40;
  EXPECT_NE(error().find("counted by 32 bits"), std::string::npos);
}

TEST_F(Graphs, MayHaveNoEdges) {
  edges.edges = 0;
  ASSERT_EQ(error(), "");
  EXPECT_EQ(array(0), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(array(2), (Ints{0}));
  EXPECT_EQ(array(5), (Ints{0, 0, 0}));
}

} // namespace
