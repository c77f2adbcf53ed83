//===- EdgeRows.cpp - the region of a traverse, edge by edge --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/EdgeRows.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace drawloom::rgnn {

int64_t groupedBytes(TraverseOp op, ArrayRef<unsigned> results) {
  int64_t bytes = 0;
  for (unsigned i : results)
    if (op.resultSpace(i) == Space::Rel || op.resultSpace(i) == Space::All) {
      auto type = cast<RankedTensorType>(op.getResult(i).getType());
      bytes += bytesOf(type, computeType(type.getElementType()));
    }
  return bytes;
}

EdgeRows::EdgeRows(TraverseOp op, Blocks &blocks, ArrayRef<unsigned> numbers)
    : op(op), b(blocks.s.b), blocks(blocks), s(blocks.s),
      rows(op.getInputs().size()) {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (op.inputSpace(i) == Space::All)
      rows[i] = blocks.whole(input);
  for (unsigned i : numbers) {
    auto type = cast<RankedTensorType>(op.getResult(i).getType());
    Space space = op.resultSpace(i);
    Type row = rowType(type.clone(computeType(type.getElementType())), space);
    // Relations have no part of the loops of their own: a pair's sum is added.
    Level level = space == Space::Rel ? Pair : blocks.levelOf(space);
    if (space == Space::All)
      level = Grouped;
    results.push_back(
        {i, space, op.combiner(i), type, row, level, Value(), Value()});
  }
}

SmallVector<Value *> EdgeRows::carried(Level level) {
  SmallVector<Value *> values;
  for (Result &result : results) {
    // What ends inside of the loop is written there.
    if (result.level > level)
      values.push_back(&result.part);
    else
      values.push_back(&result.sum);
  }
  return values;
}

void EdgeRows::loop(Value lower, Value upper, Level level,
                    function_ref<void(Value)> body) {
  SmallVector<Value *> values = carried(level);
  auto current = [&] {
    return llvm::map_to_vector(values, [](Value *value) { return *value; });
  };
  auto set = [&](ValueRange from) {
    for (auto [value, now] : llvm::zip_equal(values, from))
      *value = now;
  };
  set(s.loop(lower, upper, current(), [&](Value i, ValueRange carried) {
    set(carried);
    body(i);
    return current();
  }));
}

Value EdgeRows::readRow(Value tensor, Value row) {
  if (typeOf(tensor).getRank() == 1)
    return tensor::ExtractOp::create(b, s.loc, tensor, row);
  return s.read(tensor, 0, row);
}

Value EdgeRows::writeRow(Value row, Value part, Value at) {
  if (typeOf(part).getRank() == 1)
    return tensor::InsertOp::create(b, s.loc, row, part, at);
  return s.write(row, part, 0, at);
}

void EdgeRows::readInputs(Level level, Value row) {
  const Order &order = blocks.order;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Space space = op.inputSpace(i);
    if (blocks.levelOf(space) != level)
      continue;
    if (Value tile = tiles.lookup(static_cast<unsigned>(i))) {
      rows[i] = readRow(tile, place);
      continue;
    }
    Value number = row;
    if (space == Space::Rel)
      number = blocks.at(order.pairRelation, row);
    else if (level == Edge && space == Space::Edge && order.edge)
      number = blocks.at(order.edge, row);
    else if (space == Space::SrcRel || space == Space::DstRel)
      number = level == Edge ? blocks.at(order.farPair, row) : row;
    else if (level == Edge && space != Space::Edge)
      number = blocks.at(order.far, row);
    rows[i] = readRow(input, number);
  }
}

Value EdgeRows::converted(Value row, Type wanted) {
  return ScalarBuilder(b, s.loc).convert(row, getElementTypeOrSelf(wanted));
}

void EdgeRows::start(Level level) {
  for (Result &result : results) {
    if (result.level != level || result.combiner == Combiner::None)
      continue;
    auto element = cast<FloatType>(getElementTypeOrSelf(result.row));
    Value first = arith::ConstantOp::create(
        b, s.loc, b.getFloatAttr(element, firstOf(result.combiner, element)));
    if (auto type = dyn_cast<RankedTensorType>(result.row))
      first = s.filled(
          first, tensor::EmptyOp::create(b, s.loc, type.getShape(), element));
    result.sum = first;
  }
}

Value EdgeRows::combined(Combiner combiner, Value sum, Value row) {
  auto both = [&](Value a, Value c) -> Value {
    return rgnn::combined(b, s.loc, combiner, a, c);
  };
  if (!isa<RankedTensorType>(sum.getType()))
    return both(sum, row);
  return s.elementwise(
      row, sum, [&](ValueRange e) -> Values { return {both(e[1], e[0])}; })[0];
}

Values EdgeRows::executeRegion() {
  IRMapping mapping;
  Block &body = op.getBody().front();
  mapping.map(body.getArguments(), rows);
  for (Operation &inner : body.without_terminator())
    b.clone(inner, mapping);
  auto yield = cast<YieldOp>(body.getTerminator());
  return llvm::map_to_vector(results, [&](Result &result) {
    return mapping.lookupOrDefault(yield.getOperand(result.number));
  });
}

void EdgeRows::visitRegion() {
  for (auto [result, row] : llvm::zip_equal(results, executeRegion()))
    result.sum =
        result.combiner == Combiner::None
            ? row
            : combined(result.combiner, result.sum, converted(row, result.row));
}

void EdgeRows::visitEdge(Value edge) {
  readInputs(Edge, edge);
  visitRegion();
  for (Result &result : results)
    if (result.level == Edge)
      result.part =
          writeRow(result.sum, result.part, blocks.sub(edge, group.firstEdge));
}

void EdgeRows::sumPair(Value first, Value last) {
  start(Pair);
  if (op.getOver() == Space::Edge && givesOnes(op) &&
      llvm::all_of(results, [](Result &result) {
        return result.level == Pair && isa<FloatType>(result.row) &&
               result.combiner == Combiner::Sum;
      })) {
    // As many as there are edges; sums of ones are exact as far as floats
    // count.
    Value count = arith::IndexCastOp::create(b, s.loc, b.getI32Type(),
                                             blocks.sub(last, first));
    for (Result &result : results)
      result.sum = arith::SIToFPOp::create(b, s.loc, result.row, count);
    return;
  }
  if (op.getOver() == Space::Edge)
    loop(first, last, Pair, [&](Value edge) { visitEdge(edge); });
  else
    visitRegion();
}

void EdgeRows::visitPair(Value pair) {
  readInputs(Pair, pair);
  Value first = blocks.at(blocks.order.pairEdges, pair);
  sumPair(first, blocks.at(blocks.order.pairEdges, blocks.next(pair)));
  for (Result &result : results) {
    if (result.level != Pair)
      continue;
    if (result.space == Space::Rel) {
      Value relation = blocks.at(blocks.order.pairRelation, pair);
      Value before = readRow(result.part, relation);
      result.part = writeRow(combined(result.combiner, before, result.sum),
                             result.part, relation);
      continue;
    }
    result.part = writeRow(converted(result.sum, result.type), result.part,
                           blocks.sub(pair, group.firstPair));
  }
}

Values EdgeRows::rowsOf(const Member &member) {
  place = member.place;
  readInputs(Node, member.node);
  readInputs(Pair, member.pair);
  Value first = blocks.at(blocks.order.pairEdges, member.pair);
  Value last = blocks.at(blocks.order.pairEdges, blocks.next(member.pair));
  // No edge is in a pair that is not there.
  last = arith::SelectOp::create(b, s.loc, member.there, last, first);
  sumPair(first, last);
  bool whole = op.getOver() != Space::Edge;
  return llvm::map_to_vector(results, [&](Result &result) {
    Value row = result.sum;
    if (whole || result.combiner != Combiner::Sum)
      row = zeroWhere(
          arith::XOrIOp::create(b, s.loc, member.there,
                                arith::ConstantIntOp::create(b, s.loc, 1, 1)),
          row);
    return converted(row, result.type);
  });
}

Values EdgeRows::addTo(const Member &member, ValueRange parts,
                       Value firstNode) {
  place = member.place;
  auto branch = scf::IfOp::create(
      b, s.loc, member.there,
      [&](OpBuilder &, Location) {
        readInputs(Node, member.node);
        readInputs(Pair, member.pair);
        Value own = blocks.sub(member.node, firstNode);
        Values sums;
        for (auto [result, row, part] :
             llvm::zip_equal(results, executeRegion(), parts))
          sums.push_back(writeRow(combined(result.combiner, readRow(part, own),
                                           converted(row, result.row)),
                                  part, own));
        scf::YieldOp::create(b, s.loc, sums);
      },
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, s.loc, parts); });
  return branch.getResults();
}

RankedTensorType EdgeRows::summedType(RankedTensorType type) {
  return type.clone(computeType(type.getElementType()));
}

Value EdgeRows::zeroWhere(Value condition, Value row) {
  auto choose = [&](Value element) -> Value {
    return arith::SelectOp::create(b, s.loc, condition,
                                   s.zero(element.getType()), element);
  };
  if (!isa<RankedTensorType>(row.getType()))
    return choose(row);
  return s.elementwise(
      {}, row, [&](ValueRange e) -> Values { return {choose(e[0])}; })[0];
}

void EdgeRows::visitNode(Value node) {
  Value number = blocks.add(group.firstNode, node);
  readInputs(Node, number);
  start(Node);
  Value first = blocks.at(blocks.order.nodePairs, number);
  Value last = blocks.at(blocks.order.nodePairs, blocks.next(number));
  loop(first, last, Node, [&](Value pair) { visitPair(pair); });
  for (Result &result : results) {
    if (result.level != Node)
      continue;
    Value row = result.sum;
    // A maximum of nothing is 0.
    if (result.combiner != Combiner::Sum)
      row = zeroWhere(arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::eq,
                                            first, last),
                      row);
    result.part = writeRow(converted(row, result.type), result.part, node);
  }
}

Values EdgeRows::build() {
  SmallVector<Blocks::Output> outputs;
  for (Result &result : results) {
    RankedTensorType type = result.type;
    if (result.space == Space::Rel || result.space == Space::All)
      type = type.clone(computeType(type.getElementType()));
    outputs.push_back({type, result.space});
  }
  Values filled =
      blocks.run(outputs, [&](const Blocks::Group &owned, ValueRange parts) {
        group = owned;
        for (auto [result, part] : llvm::zip_equal(results, parts)) {
          result.part = part;
          if (result.space == Space::Rel)
            result.part = s.filled(s.zero(typeOf(part).getElementType()), part);
        }
        start(Grouped);
        Value zero = s.index(0);
        loop(zero, group.nodes, Grouped, [&](Value node) { visitNode(node); });
        return llvm::map_to_vector(results, [&](Result &result) -> Value {
          if (result.space != Space::All)
            return result.part;
          if (isa<RankedTensorType>(result.sum.getType()))
            return result.sum;
          return tensor::InsertOp::create(b, s.loc, result.sum, result.part,
                                          ValueRange{});
        });
      });
  for (auto [result, value] : llvm::zip_equal(results, filled))
    if (result.space == Space::Rel || result.space == Space::All)
      value = blocks.addGroups(value, result.type);
  return filled;
}

} // namespace drawloom::rgnn
