//===- Associate.cpp - products before or behind sums of edges ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With e from u to v by relation r, the sum over v's edges of (b_(u,r) w_r) is
// the sum over r of (the sum over v's edges by r of b_(u,r)) w_r. The products
// are for the pairs of one end or for those of the other, and so is what is
// gathered for each edge.
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "passes/Relational/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_ASSOCIATE
#include "passes/Relational/Passes.h.inc"

using namespace rgnn;

static Direction other(Direction direction) {
  return direction == Direction::Incoming ? Direction::Outgoing
                                          : Direction::Incoming;
}

static int32_t number(Space space) { return static_cast<int32_t>(space); }
static int32_t number(Combiner combiner) {
  return static_cast<int32_t>(combiner);
}

/// The input that a traverse only adds up, as it is: no function of an edge,
/// one result. Null of others.
static Value summedRows(TraverseOp op) {
  if (!op || op.getOver() != Space::Edge || op.getNumResults() != 1 ||
      op.getInputs().size() != 1 || op.combiner(0) != Combiner::Sum ||
      op.getResult(0).getType() !=
          typeOf(op.getInputs()[0])
              .clone(typeOf(op.getResult(0)).getShape(),
                     typeOf(op.getInputs()[0]).getElementType()))
    return Value();
  Block &body = op.getBody().front();
  return body.getTerminator()->getOperand(0) == body.getArgument(0)
             ? op.getInputs()[0]
             : Value();
}

/// Adds up, over the edges of each pair of `direction`, the rows that `rows`
/// has at `space` of the other end. What gives each pair of that end its row
/// from others is computed for each edge.
static TraverseOp sumAtPairs(OpBuilder &builder, Location loc, Value graph,
                             Value rows, Space space, Direction direction) {
  SmallVector<int64_t> shape(typeOf(rows).getShape());
  Order order = orderOf(graphOf(graph), direction);
  shape[0] = typeOf(order.pairRelation).getDimSize(0);
  auto type = RankedTensorType::get(shape, typeOf(rows).getElementType());
  auto given = rows.getDefiningOp<TraverseOp>();
  bool computed = given && given.getNumResults() == 1 &&
                  given.getOver() == pairsOf(other(direction)) &&
                  given.combiner(0) == Combiner::None &&
                  given.resultSpace(0) == space;
  SmallVector<Value> inputs{rows};
  SmallVector<int32_t> at{number(space)};
  if (computed) {
    inputs.assign(given.getInputs().begin(), given.getInputs().end());
    at.assign(given.getAt().begin(), given.getAt().end());
  }
  auto sum = TraverseOp::create(builder, loc, TypeRange(type), graph, inputs,
                                Space::Edge, at, {number(pairsOf(direction))},
                                {number(Combiner::Sum)});
  OpBuilder::InsertionGuard guard(builder);
  if (computed) {
    IRMapping mapping;
    given.getBody().cloneInto(&sum.getBody(), mapping);
    return sum;
  }
  Block *body = builder.createBlock(&sum.getBody());
  Value row = body->addArgument(rowType(typeOf(rows), space), loc);
  YieldOp::create(builder, loc, row);
  return sum;
}

namespace {

struct Associate : impl::AssociateBase<Associate> {
  using AssociateBase::AssociateBase;
  void runOnOperation() override;

  /// Products of what one end's pairs have, added up at the other end's nodes:
  /// multiplied there.
  void multiplyBehind(TraverseOp op);
  /// Outer products of sums of edges: those of the other end's sums, where
  /// these are there already.
  void sumOtherRows(OuterOp op);
  bool isCheaperBehind(TraverseOp op, LinearOp linear) const;
};

} // namespace

static constexpr remark::RemarkOpts remarkOptions(StringRef name) {
  return remark::RemarkOpts::name(name).category("rgnn-associate");
}

/// How many operations cost as much as a byte: of rows that are gathered, and
/// of a table that is written and read.
static constexpr double gathered = 5, stored = 10;

/// How many pairs the nodes of a direction have for each edge.
static double pairsPerEdge(GraphOp graph, Direction direction) {
  if (std::optional<ArrayRef<int64_t>> expected = graph.getEdgesPerPair())
    return 1.0 / static_cast<double>(
                     (*expected)[direction == Direction::Outgoing ? 1 : 0]);
  Order order = orderOf(graph, direction);
  RankedTensorType pairs = typeOf(order.pairRelation),
                   edges = typeOf(order.far);
  if (pairs.isDynamicDim(0) || edges.isDynamicDim(0) ||
      edges.getDimSize(0) == 0)
    return 1;
  return static_cast<double>(pairs.getDimSize(0)) /
         static_cast<double>(edges.getDimSize(0));
}

bool Associate::isCheaperBehind(TraverseOp op, LinearOp linear) const {
  double inner = typeOf(linear.getX()).getShape().back();
  double outer = typeOf(linear.getY()).getShape().back();
  double elementBytes = typeOf(linear.getX()).getElementTypeBitWidth() / 8.0;
  GraphOp graph = graphOf(op.getGraph());
  Direction near = directionOf(op.resultSpace(0));
  double before = pairsPerEdge(graph, other(near)) * outer *
                      (2 * inner + stored * elementBytes) +
                  outer * gathered * elementBytes;
  double behind = pairsPerEdge(graph, near) * outer * 2 * inner +
                  inner * gathered * elementBytes;
  auto tell = [&](auto &&remark) {
    remark << remark::metric("inner", static_cast<int64_t>(inner))
           << remark::metric("outer", static_cast<int64_t>(outer))
           << remark::metric("costForEdgeBefore", static_cast<float>(before))
           << remark::metric("costForEdgeBehind", static_cast<float>(behind));
  };
  if (behind < before) {
    tell(remark::passed(op.getLoc(), remarkOptions("MultipliedBehindSum")));
    return true;
  }
  tell(remark::missed(op.getLoc(), remarkOptions("MultipliedBeforeSum"))
       << remark::reason("products behind the sum would cost more; another "
                         "edges_per_pair of rgnn.graph may decide otherwise"));
  return false;
}

void Associate::multiplyBehind(TraverseOp op) {
  Value summed = summedRows(op);
  auto linear = summed ? summed.getDefiningOp<LinearOp>() : LinearOp();
  if (!linear || !linear.getY().hasOneUse() ||
      typeOf(linear.getY()).getRank() != 2)
    return;
  Direction near = directionOf(op.resultSpace(0));
  if (op.resultSpace(0) != nodesOf(near) ||
      op.inputSpace(0) != pairsOf(other(near)) ||
      directionOf(linear.getAt()) == near || !isCheaperBehind(op, linear))
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value sums = sumAtPairs(builder, loc, op.getGraph(), linear.getX(),
                          linear.getAt(), near)
                   .getResult(0);
  SmallVector<int64_t> shape(typeOf(sums).getShape());
  shape.back() = typeOf(op.getResult(0)).getShape().back();
  Value products = LinearOp::create(builder, loc, typeOf(sums).clone(shape),
                                    op.getGraph(), sums, pairsOf(near),
                                    linear.getW(), linear.getTranspose());
  auto total =
      TraverseOp::create(builder, loc, op->getResultTypes(), op.getGraph(),
                         products, pairsOf(near), {number(pairsOf(near))},
                         {number(op.resultSpace(0))}, {number(Combiner::Sum)});
  Block *body = builder.createBlock(&total.getBody());
  Value row = body->addArgument(rowType(typeOf(products), pairsOf(near)), loc);
  YieldOp::create(builder, loc, row);
  op->replaceAllUsesWith(total);
  op->erase();
  if (linear->use_empty())
    linear->erase();
}

/// Whether `op` needs what `first` computes.
static bool needs(Operation *op, Operation *first) {
  SmallVector<Operation *> open{first};
  DenseSet<Operation *> seen{first};
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      Operation *own = first->getBlock()->findAncestorOpInBlock(*user);
      if (own == op)
        return true;
      if (own && seen.insert(own).second)
        open.push_back(own);
    }
  return false;
}

/// Another op of the block that is the same as `made` and does not need what
/// `reader` computes; null if there is none.
static TraverseOp sameAs(TraverseOp made, Operation *reader) {
  for (auto known : made->getBlock()->getOps<TraverseOp>())
    if (known != made &&
        OperationEquivalence::isEquivalentTo(
            known, made, OperationEquivalence::IgnoreLocations) &&
        !needs(known, reader))
      return known;
  return TraverseOp();
}

void Associate::sumOtherRows(OuterOp op) {
  for (bool first : {true, false}) {
    Value sums = first ? op.getA() : op.getB();
    Value rows = first ? op.getB() : op.getA();
    Space at = first ? op.getAAt() : op.getBAt();
    Space rowsAt = first ? op.getBAt() : op.getAAt();
    Direction near = directionOf(at), far = other(near);
    auto summed = sums.getDefiningOp<TraverseOp>();
    Value from = summed ? summedRows(summed) : Value();
    if (at != pairsOf(near) || !from || summed.resultSpace(0) != at ||
        typeOf(from).getRank() != 2 || !isAt(summed.inputSpace(0), far) ||
        graphOf(op.getGraph()).getOutgoing().empty())
      continue;
    // What the pairs of the other end have of these rows.
    OpBuilder builder(op);
    TraverseOp made =
        sumAtPairs(builder, op.getLoc(), op.getGraph(), rows, rowsAt, far);
    TraverseOp known = sameAs(made, op);
    made->erase();
    if (!known)
      continue;
    Space space = summed.inputSpace(0);
    Value there = known.getResult(0);
    auto outer =
        first
            ? OuterOp::create(builder, op.getLoc(), op.getType(), op.getGraph(),
                              from, space, there, pairsOf(far))
            : OuterOp::create(builder, op.getLoc(), op.getType(), op.getGraph(),
                              there, pairsOf(far), from, space);
    op->replaceAllUsesWith(outer);
    op->erase();
    return;
  }
}

void Associate::runOnOperation() {
  SmallVector<TraverseOp> sums;
  getOperation().walk([&](TraverseOp op) { sums.push_back(op); });
  for (TraverseOp op : sums)
    multiplyBehind(op);
  SmallVector<OuterOp> outers;
  getOperation().walk([&](OuterOp op) { outers.push_back(op); });
  for (OuterOp op : outers)
    sumOtherRows(op);
  // An outer product may stand before the sum of edges that it reads now.
  getOperation().walk([](Block *block) { sortTopologically(block); });
}

} // namespace drawloom
