//===- Blocks.cpp - block programs over the edges of a graph --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block owns near nodes, and with them all their pairs and edges: it writes
// the rows of these and no others. What has no owner, sums by relation and over
// everything, is summed by group of blocks, and over the groups behind them.
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/Blocks.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::rgnn {

/// Sums that every group of blocks has a part of are for so many groups at
/// most, and together have so many bytes.
static constexpr int64_t mostGroups = 64, mostGroupBytes = 16 << 20;

int64_t bytesOf(RankedTensorType type, FloatType element) {
  return ShapedType::getNumElements(type.getShape()) *
         llvm::divideCeil(element.getWidth(), 8);
}

//===----------------------------------------------------------------------===//
// Open extents
//===----------------------------------------------------------------------===//

namespace {
/// Says which extents are one: with them `bind-extents` knows what calls are
/// checked for.
struct Assertions {
  block::SliceBuilder s;

  void same(Value a, Value b, int64_t aIsMore = 0) {
    if (!typeOf(a).isDynamicDim(0) && !typeOf(b).isDynamicDim(0))
      return;
    Value extent = s.extent(a, 0);
    if (aIsMore)
      extent = arith::SubIOp::create(s.b, s.loc, extent, s.index(aIsMore));
    Value same = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::eq,
                                       extent, s.extent(b, 0));
    cf::AssertOp::create(s.b, s.loc, same,
                         "the arrays of a graph, and rows of its nodes, pairs "
                         "and edges, have extents that go together");
  }

  void graph(GraphOp op) {
    for (OperandRange arrays : {op.getIncoming(), op.getOutgoing()}) {
      if (arrays.empty())
        continue;
      same(arrays[2], arrays[1], 1);
      same(arrays[4], arrays[3]);
      same(arrays[7], arrays[6]);
      same(arrays[8], arrays[6]);
    }
    if (op.getOutgoing().empty())
      return;
    same(op.getOutgoing()[3], op.getIncoming()[3]);
    same(op.getOutgoing()[9], op.getIncoming()[3]);
  }

  void rows(GraphOp graph, Value tensor, Space space) {
    bool outgoing = directionOf(space) == Direction::Outgoing;
    // What the ops of a sweep give each other is in no tensor.
    if (isa<SweepOp>(tensor.getParentBlock()->getParentOp()))
      return;
    if (space == Space::Rel || space == Space::All ||
        (outgoing && graph.getOutgoing().empty()))
      return;
    Order order = orderOf(graph, directionOf(space));
    if (space == Space::Src || space == Space::Dst)
      same(order.nodePairs, tensor, 1);
    else
      same(tensor, space == Space::Edge ? order.far : order.pairRelation);
  }
};
} // namespace

void assertExtents(OpBuilder &builder, Operation *op) {
  GraphOp graph = graphOf(op->getOperand(0));
  Assertions assertions{{builder, op->getLoc()}};
  assertions.graph(graph);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](TraverseOp traverse) {
        for (auto [i, input] : llvm::enumerate(traverse.getInputs()))
          assertions.rows(graph, input, traverse.inputSpace(i));
      })
      .Case([&](LinearOp linear) {
        assertions.rows(graph, linear.getX(), linear.getAt());
      })
      .Case([&](OuterOp outer) {
        assertions.rows(graph, outer.getA(), outer.getAAt());
        assertions.rows(graph, outer.getB(), outer.getBAt());
      });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

llvm::APFloat firstOf(Combiner combiner, FloatType element) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  switch (combiner) {
  case Combiner::None:
  case Combiner::Sum:
    return APFloat::getZero(semantics);
  case Combiner::Max:
  case Combiner::Bound:
    return APFloat::getInf(semantics, /*Negative=*/true);
  }
  llvm_unreachable("all combiners are listed");
}

Value combined(OpBuilder &builder, Location loc, Combiner combiner, Value a,
               Value b) {
  switch (combiner) {
  case Combiner::None:
    return b;
  case Combiner::Sum:
    return arith::AddFOp::create(builder, loc, a, b);
  case Combiner::Max:
  case Combiner::Bound:
    return arith::MaximumFOp::create(builder, loc, a, b);
  }
  llvm_unreachable("all combiners are listed");
}

bool givesOnes(TraverseOp op) {
  return llvm::all_of(
      op.getBody().front().getTerminator()->getOperands(),
      [](Value row) { return matchPattern(row, m_OneFloat()); });
}

Level Blocks::levelOf(Space space) const {
  if (space == Space::All)
    return Whole;
  if (space == nodesOf(direction))
    return Node;
  return space == pairsOf(direction) || space == Space::Rel ? Pair : Edge;
}

Value Blocks::whole(Value tensor) {
  if (typeOf(tensor).getRank() > 0)
    return tensor;
  return tensor::ExtractOp::create(s.b, s.loc, tensor, ValueRange{});
}

Value Blocks::add(Value a, Value b) {
  return arith::AddIOp::create(s.b, s.loc, a, b);
}

Value Blocks::sub(Value a, Value b) {
  return arith::SubIOp::create(s.b, s.loc, a, b);
}

Value Blocks::mul(Value a, int64_t b) {
  return arith::MulIOp::create(s.b, s.loc, a, s.index(b));
}

Value Blocks::least(Value a, Value b) {
  return arith::MinSIOp::create(s.b, s.loc, a, b);
}

Blocks::Blocks(OpBuilder &builder, Location loc, GraphOp graph,
               Direction direction, int64_t partBytes)
    : s{builder, loc}, direction(direction), order(orderOf(graph, direction)),
      rowsPerBlock(graph.getRowsPerBlock()) {
  nodes = sub(s.extent(order.nodePairs, 0), s.index(1));
  blocks = sub(s.extent(order.blockTiles, 0), s.index(1));
  int64_t known = typeOf(order.nodePairs).getDimSize(0);
  bool isOpen = ShapedType::isDynamic(known);
  if (!isOpen)
    knownGroups = llvm::divideCeil(known - 1, rowsPerBlock);
  groups = blocks;
  groupBlocks = s.index(1);
  if (partBytes <= 0)
    return;
  int64_t most = std::clamp<int64_t>(
      mostGroupBytes / std::max<int64_t>(partBytes, 1), 1, mostGroups);
  auto ceilDiv = [&](Value a, Value b) -> Value {
    return arith::CeilDivUIOp::create(s.b, s.loc, a, b);
  };
  groupBlocks = arith::MaxUIOp::create(
      s.b, s.loc, ceilDiv(blocks, s.index(most)), s.index(1));
  groups = ceilDiv(blocks, groupBlocks);
  parts = most;
  if (!isOpen) {
    int64_t size = std::max<int64_t>(llvm::divideCeil(knownGroups, most), 1);
    parts = knownGroups = llvm::divideCeil(knownGroups, size);
  }
}

Values Blocks::run(ArrayRef<Output> outputs,
                   function_ref<Values(const Group &, ValueRange parts)> body) {
  OpFoldResult count = groups;
  if (!ShapedType::isDynamic(knownGroups))
    count = s.b.getIndexAttr(knownGroups);
  OpBuilder &b = s.b;
  Values empties;
  for (const Output &output : outputs) {
    SmallVector<OpFoldResult> sizes =
        llvm::map_to_vector(output.type.getShape(), [&](int64_t extent) {
          return OpFoldResult(b.getIndexAttr(extent));
        });
    if (output.byGroup())
      sizes.insert(sizes.begin(), b.getIndexAttr(parts));
    else if (output.type.isDynamicDim(0))
      sizes[0] = output.space == nodesOf(direction) ? nodes
                 : output.space == pairsOf(direction)
                     ? s.extent(order.pairRelation, 0)
                     : s.extent(order.far, 0);
    empties.push_back(
        tensor::EmptyOp::create(b, s.loc, sizes, output.type.getElementType()));
  }

  OpBuilder::InsertionGuard guard(b);
  scf::ForallOp loop = block::blocksOf(b, s.loc, count, empties);
  loop->setAttr(block::withinRowsAttr, b.getUnitAttr());
  b.setInsertionPoint(loop.getTerminator());
  Group group;
  group.number = loop.getInductionVar(0);
  group.firstBlock = arith::MulIOp::create(b, s.loc, group.number, groupBlocks);
  group.lastBlock = least(add(group.firstBlock, groupBlocks), blocks);
  group.firstNode = mul(group.firstBlock, rowsPerBlock);
  Value lastNode = least(mul(group.lastBlock, rowsPerBlock), nodes);
  group.nodes = sub(lastNode, group.firstNode);
  group.firstPair = at(order.nodePairs, group.firstNode);
  Value lastPair = at(order.nodePairs, lastNode);
  group.pairs = sub(lastPair, group.firstPair);
  group.firstEdge = at(order.pairEdges, group.firstPair);
  group.edges = sub(at(order.pairEdges, lastPair), group.firstEdge);

  struct Part {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  SmallVector<Part> places;
  Values parts;
  for (auto [output, argument] :
       llvm::zip_equal(outputs, loop.getRegionIterArgs())) {
    Part &place = places.emplace_back();
    auto type = cast<RankedTensorType>(argument.getType());
    place.offsets.assign(type.getRank(), b.getIndexAttr(0));
    place.strides.assign(type.getRank(), b.getIndexAttr(1));
    for (int64_t extent : type.getShape())
      place.sizes.push_back(b.getIndexAttr(extent));
    SmallVector<int64_t> shape(output.type.getShape());
    if (output.byGroup()) {
      place.offsets[0] = group.number;
      place.sizes[0] = b.getIndexAttr(1);
    } else {
      bool node = output.space == nodesOf(direction);
      bool pair = output.space == pairsOf(direction);
      place.offsets[0] = node   ? group.firstNode
                         : pair ? group.firstPair
                                : group.firstEdge;
      place.sizes[0] = node ? group.nodes : pair ? group.pairs : group.edges;
      shape[0] = ShapedType::kDynamic;
    }
    parts.push_back(tensor::ExtractSliceOp::create(
        b, s.loc, RankedTensorType::get(shape, type.getElementType()), argument,
        place.offsets, place.sizes, place.strides));
  }
  Values filled = body(group, parts);
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [part, argument, place] :
       llvm::zip_equal(filled, loop.getRegionIterArgs(), places))
    tensor::ParallelInsertSliceOp::create(
        b, s.loc, part, argument, place.offsets, place.sizes, place.strides);
  return loop.getResults();
}

Value Blocks::addGroups(Value given, RankedTensorType type) {
  // There may be more parts than groups, of which the number may be open.
  // Matrices are added up each on its own.
  OpBuilder &b = s.b;
  int64_t rank = type.getRank(), split = rank > 2 ? 1 : 0;
  Value empty = tensor::EmptyOp::create(b, s.loc, type.getShape(),
                                        typeOf(given).getElementType());
  OpBuilder::InsertionGuard guard(b);
  OpFoldResult count = b.getIndexAttr(split ? type.getDimSize(0) : 1);
  scf::ForallOp loop = block::blocksOf(b, s.loc, count, empty);
  b.setInsertionPoint(loop.getTerminator());
  Value total = loop.getRegionIterArgs()[0];
  auto row = typeOf(total).clone(type.getShape().drop_front(split));
  struct Place {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  auto placeOf = [&](Value tensor, ArrayRef<OpFoldResult> at) {
    Place place;
    for (auto [d, extent] : llvm::enumerate(typeOf(tensor).getShape())) {
      place.offsets.push_back(d < at.size() ? at[d] : b.getIndexAttr(0));
      place.sizes.push_back(b.getIndexAttr(d < at.size() ? 1 : extent));
      place.strides.push_back(b.getIndexAttr(1));
    }
    return place;
  };
  SmallVector<OpFoldResult> own;
  if (split)
    own.push_back(loop.getInductionVar(0));
  Place all = placeOf(total, own);
  Value start = tensor::ExtractSliceOp::create(
      b, s.loc, row, total, all.offsets, all.sizes, all.strides);
  start = s.filled(s.zero(row.getElementType()), start);
  Value sum =
      s.loop(groups, start, [&](Value group, ValueRange carried) -> Values {
        SmallVector<OpFoldResult> at{group};
        llvm::append_range(at, own);
        Place part = placeOf(given, at);
        Value rows = tensor::ExtractSliceOp::create(
            b, s.loc, row, given, part.offsets, part.sizes, part.strides);
        return s.elementwise(rows, carried, [&](ValueRange e) -> Values {
          return {arith::AddFOp::create(b, s.loc, e[1], e[0])};
        });
      })[0];
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, s.loc, sum, total, all.offsets,
                                        all.sizes, all.strides);
  b.setInsertionPointAfter(loop);
  return ScalarBuilder(b, s.loc).convert(loop.getResult(0),
                                         type.getElementType());
}

} // namespace drawloom::rgnn
