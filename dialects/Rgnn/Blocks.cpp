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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::rgnn {

/// Sums that every group of blocks has a part of are for so many groups at
/// most, and together have so many bytes.
static constexpr int64_t mostGroups = 64, mostGroupBytes = 16 << 20;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

int64_t bytesOf(RankedTensorType type, FloatType element) {
  return ShapedType::getNumElements(type.getShape()) *
         llvm::divideCeil(element.getWidth(), 8);
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
  if (!ShapedType::isDynamic(known))
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
  if (!ShapedType::isDynamic(knownGroups)) {
    int64_t size = std::max<int64_t>(llvm::divideCeil(knownGroups, most), 1);
    knownGroups = llvm::divideCeil(knownGroups, size);
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
      sizes.insert(sizes.begin(), count);
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

Value Blocks::addGroups(Value parts, RankedTensorType type) {
  OpBuilder &b = s.b;
  auto wide = typeOf(parts);
  Value empty =
      tensor::EmptyOp::create(b, s.loc, type.getShape(), wide.getElementType());
  Value zeros = s.filled(s.zero(wide.getElementType()), empty);
  Value sum = linalg::ReduceOp::create(
                  b, s.loc, parts, zeros, ArrayRef<int64_t>{0},
                  [&](OpBuilder &nested, Location loc, ValueRange elements) {
                    Value added = arith::AddFOp::create(
                        nested, loc, elements[1], elements[0]);
                    linalg::YieldOp::create(nested, loc, added);
                  })
                  .getResult(0);
  return ScalarBuilder(b, s.loc).convert(sum, type.getElementType());
}

} // namespace drawloom::rgnn
