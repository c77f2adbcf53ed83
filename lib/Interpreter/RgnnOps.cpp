//===- RgnnOps.cpp - message passing --------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/HostGraph.h"
#include "lib/Interpreter/Machine.h"
#include <limits>

using namespace mlir;

namespace drawloom::interpreter {

namespace {
/// One execution of an rgnn.traverse.
class TraverseRun {
public:
  explicit TraverseRun(Call &call)
      : call(call), op(call.as<rgnn::TraverseOp>()),
        graph(rgnn::HostGraph::unpack(call.args[0])) {}
  LogicalResult run();

private:
  LogicalResult start();
  /// Which row element `i` of what the op is over meets.
  int64_t rowOf(rgnn::Space space, int64_t i);
  HostTensor read(unsigned input, int64_t i);
  void combine(unsigned result, int64_t i, const HostTensor &row);

  Call &call;
  rgnn::TraverseOp op;
  rgnn::HostGraph graph;
  SmallVector<HostTensor> results;
  /// By result and row: whether something came there.
  SmallVector<std::vector<bool>> met;
};
} // namespace

LogicalResult TraverseRun::start() {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    rgnn::Space space = op.inputSpace(i);
    if (space == rgnn::Space::Src && !graph.hasOutgoing) {
      // Without outgoing edges only these say how many sources there are.
      for (int64_t source : graph.source)
        if (source >= call.args[i + 1].dim(0))
          return call.error()
                 << "has an edge from source " << source << ", but input " << i
                 << " has " << call.args[i + 1].dim(0) << " rows";
      continue;
    }
    if (space == rgnn::Space::SrcRel && !graph.hasOutgoing) {
      for (int64_t pair : graph.sourcePair)
        if (pair < 0 || pair >= call.args[i + 1].dim(0))
          return call.error()
                 << "has an edge from pair " << pair << ", but input " << i
                 << " has " << call.args[i + 1].dim(0) << " rows";
      continue;
    }
    if (space != rgnn::Space::All &&
        call.args[i + 1].dim(0) != graph.rows(space))
      return call.error() << "has " << call.args[i + 1].dim(0)
                          << " rows of input " << i << " at "
                          << rgnn::stringifySpace(space)
                          << ", where the graph has " << graph.rows(space);
  }
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(op.getResult(i).getType());
    SmallVector<int64_t> shape(type.getShape());
    if (op.resultSpace(i) != rgnn::Space::All)
      shape[0] = graph.rows(op.resultSpace(i));
    FailureOr<HostTensor> result = call.machine.allocate(op, type, shape);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
    met.emplace_back(graph.rows(op.resultSpace(i)));
  }
  return success();
}

int64_t TraverseRun::rowOf(rgnn::Space space, int64_t i) {
  if (op.getOver() == rgnn::Space::Edge)
    return graph.rowOfEdge(space, i);
  return graph.rowOfPair(space, rgnn::directionOf(op.getOver()), i);
}

/// The shape of one row.
static ArrayRef<int64_t> rowShape(const HostTensor &tensor, rgnn::Space space) {
  return space == rgnn::Space::All ? tensor.shape()
                                   : tensor.shape().drop_front();
}

HostTensor TraverseRun::read(unsigned input, int64_t i) {
  const HostTensor &tensor = call.args[input + 1];
  rgnn::Space space = op.inputSpace(input);
  HostTensor row(tensor.isFloat(), rowShape(tensor, space));
  int64_t size = row.size(), from = rowOf(space, i) * size;
  for (int64_t k = 0; k < size; ++k) {
    if (tensor.isFloat())
      row.mutableF()[k] = tensor.f()[from + k];
    else
      row.mutableI()[k] = tensor.i()[from + k];
  }
  return row;
}

void TraverseRun::combine(unsigned result, int64_t i, const HostTensor &row) {
  int64_t at = rowOf(op.resultSpace(result), i), size = row.size();
  MutableArrayRef<double> sums =
      results[result].mutableF().slice(at * size, size);
  bool first = !met[result][at];
  met[result][at] = true;
  for (auto [sum, value] : llvm::zip_equal(sums, row.f())) {
    if (first)
      sum = value;
    else if (op.combiner(result) == rgnn::Combiner::Sum)
      sum += value;
    else if (value > sum || value != value)
      sum = value;
  }
}

LogicalResult TraverseRun::run() {
  if (failed(start()))
    return failure();
  const Body &body = call.region(0);
  for (int64_t i = 0; i < graph.rows(op.getOver()); ++i) {
    if (failed(call.machine.countIteration(op)))
      return failure();
    SmallVector<HostTensor> rows;
    for (unsigned k = 0; k < op.getInputs().size(); ++k)
      rows.push_back(read(k, i));
    if (failed(call.machine.run(body, rows, call.frame)))
      return failure();
    for (auto [k, row] :
         llvm::enumerate(call.machine.yielded(body, call.frame)))
      combine(k, i, row);
  }
  for (HostTensor &result : results)
    call.yield(std::move(result));
  return success();
}

static LogicalResult runTraverse(Call &call) { return TraverseRun(call).run(); }

/// A sweep is its ops.
static LogicalResult runSweep(Call &call) {
  const Body &body = call.region(0);
  if (failed(call.machine.run(body, {}, call.frame)))
    return failure();
  for (HostTensor &value : call.machine.yielded(body, call.frame))
    call.yield(std::move(value));
  return success();
}

void addRgnnOps(Registry &registry) {
  registry["rgnn.sweep"] = {runSweep};
  registry["rgnn.traverse"] = {runTraverse};
}

} // namespace drawloom::interpreter
