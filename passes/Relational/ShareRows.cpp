//===- ShareRows.cpp - what an edge says to both ends, said once ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A traverse that gives sums to both ends goes through the edges twice: nodes
// of each end add up theirs. Where what one end gets is narrow (the gradient of
// a score) and the rows that it is computed from are wide, edges keep it for
// the other end.
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Rgnn.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "passes/Relational/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_SHAREROWS
#include "passes/Relational/Passes.h.inc"

using namespace rgnn;

/// Elements of a row, whose extents are known.
static int64_t rowElements(Value tensor, Space space) {
  auto row = dyn_cast<RankedTensorType>(rowType(typeOf(tensor), space));
  return row ? row.getNumElements() : 1;
}

/// The end that a result is summed at; none where it is at neither.
static std::optional<Direction> endOf(Space space) {
  for (Direction direction : {Direction::Incoming, Direction::Outgoing})
    if (isAt(space, direction))
      return direction;
  return std::nullopt;
}

namespace {

struct ShareRows : impl::ShareRowsBase<ShareRows> {
  using ShareRowsBase::ShareRowsBase;

  void runOnOperation() override {
    SmallVector<TraverseOp> ops;
    getOperation().walk([&](TraverseOp op) { ops.push_back(op); });
    for (TraverseOp op : ops)
      keepForOneEnd(op);
  }

  void keepForOneEnd(TraverseOp op);
};

} // namespace

/// What a computation for one end reads of each edge costs as much as so many
/// elements that are written and read.
static constexpr int64_t narrower = 8;

void ShareRows::keepForOneEnd(TraverseOp op) {
  if (op.getOver() != Space::Edge)
    return;
  int64_t widest = 0, elements[2] = {0, 0};
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (op.inputSpace(i) != Space::All)
      widest = std::max(widest, rowElements(input, op.inputSpace(i)));
  SmallVector<unsigned> ofEnd[2];
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Space space = op.resultSpace(i);
    std::optional<Direction> end = endOf(space);
    if (!end)
      return;
    if (op.combiner(i) != rgnn::Combiner::Sum)
      return;
    ofEnd[*end == Direction::Outgoing].push_back(i);
    elements[*end == Direction::Outgoing] += rowElements(result, space);
  }
  unsigned other = elements[1] < elements[0];
  if (ofEnd[0].empty() || ofEnd[1].empty())
    return;
  auto options = [](StringRef name) {
    return remark::RemarkOpts::name(name).category("rgnn-share-rows");
  };
  auto tell = [&](auto &&remark) {
    remark << remark::metric("elements", elements[other])
           << remark::metric("elementsRead", widest);
  };
  if (elements[other] * narrower > widest)
    return tell(
        remark::missed(op.getLoc(), options("ComputedForBothEnds"))
        << remark::reason("what edges would keep for one end is not narrow "
                          "beside the rows that it is computed from"));
  tell(remark::passed(op.getLoc(), options("KeptForOneEnd")));

  // The same, but what the other end gets is each edge's.
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto edges = typeOf(orderOf(graphOf(op.getGraph()), Direction::Incoming).far)
                   .getDimSize(0);
  SmallVector<Type> types(op.getResultTypes());
  SmallVector<int32_t> to(op.getTo()), by(op.getBy());
  for (unsigned i : ofEnd[other]) {
    SmallVector<int64_t> shape(typeOf(op.getResult(i)).getShape());
    shape[0] = edges;
    types[i] = typeOf(op.getResult(i)).clone(shape);
    to[i] = static_cast<int32_t>(Space::Edge);
    by[i] = static_cast<int32_t>(rgnn::Combiner::None);
  }
  auto once =
      TraverseOp::create(builder, loc, types, op.getGraph(), op.getInputs(),
                         op.getOver(), op.getAt(), to, by);
  once.getBody().takeBody(op.getBody());

  // Then it is added up there.
  SmallVector<Value> rows;
  SmallVector<Type> sums;
  SmallVector<int32_t> at, sumTo, sumBy;
  for (unsigned i : ofEnd[other]) {
    rows.push_back(once.getResult(i));
    sums.push_back(op.getResult(i).getType());
    at.push_back(static_cast<int32_t>(Space::Edge));
    sumTo.push_back(op.getTo()[i]);
    sumBy.push_back(op.getBy()[i]);
  }
  auto added = TraverseOp::create(builder, loc, sums, op.getGraph(), rows,
                                  Space::Edge, at, sumTo, sumBy);
  Block *body = builder.createBlock(&added.getBody());
  for (Value row : rows)
    body->addArgument(rowType(typeOf(row), Space::Edge), loc);
  YieldOp::create(builder, loc, body->getArguments());

  SmallVector<Value> results(once.getResults());
  for (auto [i, sum] : llvm::zip_equal(ofEnd[other], added.getResults()))
    results[i] = sum;
  op->replaceAllUsesWith(results);
  op->erase();
}

} // namespace drawloom
