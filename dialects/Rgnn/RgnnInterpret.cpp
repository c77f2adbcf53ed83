//===- RgnnInterpret.cpp - the rgnn ops in plain C++ on doubles -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// rgnn.traverse, which has a region, is executed by the interpreter itself
// (lib/Interpreter/RgnnOps.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/HostGraph.h"

using namespace mlir;

namespace drawloom::rgnn {

LogicalResult GraphOp::interpret(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  FailureOr<HostGraph> graph = HostGraph::check(*this, operands);
  if (failed(graph))
    return failure();
  results.push_back(graph->pack());
  return success();
}

/// Fails unless a tensor has one row for each element of its space.
static LogicalResult checkRows(Operation *op, const HostGraph &graph,
                               const HostTensor &tensor, Space space) {
  if (tensor.dim(0) == graph.rows(space))
    return success();
  return op->emitOpError("has ")
         << tensor.dim(0) << " rows at " << stringifySpace(space)
         << ", where the graph has " << graph.rows(space);
}

LogicalResult LinearOp::interpret(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  HostGraph graph = HostGraph::unpack(operands[0]);
  const HostTensor &x = operands[1], &w = operands[2];
  if (failed(checkRows(*this, graph, x, getAt())) ||
      failed(checkRows(*this, graph, w, Space::Rel)))
    return failure();
  Direction direction = directionOf(getAt());
  int64_t inputs = x.shape().back(), heads = x.rank() == 3 ? x.dim(1) : 1;
  int64_t outputs = w.dim(w.rank() - (getTranspose() ? 2 : 1));
  SmallVector<int64_t> shape(x.shape());
  shape.front() = graph.rows(pairsOf(direction));
  shape.back() = outputs;
  HostTensor y(/*isFloat=*/true, shape);
  for (int64_t p = 0; p < shape.front(); ++p) {
    int64_t row = graph.rowOfPair(getAt(), direction, p);
    int64_t relation = graph.pairs(direction).relation[p];
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = 0;
        for (int64_t d = 0; d < inputs; ++d) {
          int64_t matrix = (relation * heads + h) * inputs * outputs;
          int64_t at = getTranspose() ? o * inputs + d : d * outputs + o;
          sum += x.f()[(row * heads + h) * inputs + d] * w.f()[matrix + at];
        }
        y.mutableF()[(p * heads + h) * outputs + o] = sum;
      }
  }
  results.push_back(y);
  return success();
}

LogicalResult OuterOp::interpret(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  HostGraph graph = HostGraph::unpack(operands[0]);
  const HostTensor &a = operands[1], &b = operands[2];
  if (failed(checkRows(*this, graph, a, getAAt())) ||
      failed(checkRows(*this, graph, b, getBAt())))
    return failure();
  Direction direction = directionOf(getAAt());
  int64_t rows = a.shape().back(), columns = b.shape().back();
  int64_t heads = a.rank() == 3 ? a.dim(1) : 1;
  SmallVector<int64_t> shape(a.shape());
  shape.front() = graph.relations;
  shape.push_back(columns);
  HostTensor w(/*isFloat=*/true, shape);
  for (int64_t p = 0; p < graph.rows(pairsOf(direction)); ++p) {
    int64_t relation = graph.pairs(direction).relation[p];
    int64_t aRow = graph.rowOfPair(getAAt(), direction, p);
    int64_t bRow = graph.rowOfPair(getBAt(), direction, p);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          w.mutableF()[((relation * heads + h) * rows + i) * columns + j] +=
              a.f()[(aRow * heads + h) * rows + i] *
              b.f()[(bRow * heads + h) * columns + j];
  }
  results.push_back(w);
  return success();
}

} // namespace drawloom::rgnn
