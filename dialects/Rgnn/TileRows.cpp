//===- TileRows.cpp - a traverse in lockstep ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Rgnn/TileRows.h"
#include "dialects/Block/Block.h"
#include "dialects/Block/RegionOfRows.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::rgnn {

bool TileRows::handles(TraverseOp op, ArrayRef<unsigned> results) {
  // Several rows of a tile may have one relation.
  return block::hasFormForRows(op.getBody().front()) &&
         llvm::all_of(results, [&](unsigned i) {
           return op.resultSpace(i) != Space::Rel &&
                  (op.resultSpace(i) != Space::All ||
                   op.combiner(i) == Combiner::Sum);
         });
}

TileRows::TileRows(TraverseOp op, Blocks &blocks, ArrayRef<unsigned> numbers,
                   int64_t count)
    : op(op), blocks(blocks), s(blocks.s), b(blocks.s.b), count(count),
      rows(op.getInputs().size()), isShared(op.getInputs().size()),
      integer(b.getI32Type()) {
  const Order &order = blocks.order;
  for (Value array :
       {order.nodePairs, order.pairRelation, order.pairEdges, order.far,
        order.farPair, order.tilePair, order.tileNode, order.edge})
    if (array && typeOf(array).getElementType().isInteger(64))
      integer = b.getI64Type();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (op.inputSpace(i) != Space::All)
      continue;
    isShared[i] = true;
    rows[i] = blocks.whole(input);
  }
  for (unsigned i : numbers) {
    auto type = cast<RankedTensorType>(op.getResult(i).getType());
    Space space = op.resultSpace(i);
    Level level = space == Space::All ? Grouped : blocks.levelOf(space);
    results.push_back(
        {i, space, op.combiner(i), type, level, Value(), Value()});
  }
}

void TileRows::loop(Value count, Level level, function_ref<void(Value)> body) {
  SmallVector<Value *> values;
  // What ends inside of the loop is written there.
  for (Result &result : results)
    values.push_back(result.level > level ? &result.part : &result.sum);
  auto current = [&] {
    return llvm::map_to_vector(values, [](Value *value) { return *value; });
  };
  auto set = [&](ValueRange from) {
    for (auto [value, now] : llvm::zip_equal(values, from))
      *value = now;
  };
  set(s.loop(count, current(), [&](Value i, ValueRange carried) {
    set(carried);
    body(i);
    return current();
  }));
}

//===----------------------------------------------------------------------===//
// Numbers of rows
//===----------------------------------------------------------------------===//

Value TileRows::numbersBy(ValueRange numbers,
                          function_ref<Value(ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(b, s.loc, {count}, integer);
  return s.elementwise(numbers, empty, [&](ValueRange e) -> Values {
    Values wide(e.drop_back());
    for (Value &number : wide)
      if (isa<IntegerType>(number.getType()) && number.getType() != integer)
        number = arith::ExtSIOp::create(b, s.loc, integer, number);
    return {body(wide)};
  })[0];
}

Value TileRows::isRow(Value number) {
  return arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::sge, number,
                               s.zero(number.getType()));
}

Value TileRows::minusOneUnless(Value condition, Value number) {
  Value none = arith::ConstantIntOp::create(b, s.loc, number.getType(), -1);
  return arith::SelectOp::create(b, s.loc, condition, number, none);
}

Value TileRows::entries(Value array, Value numbers) {
  return numbersBy(numbers, [&](ValueRange e) -> Value {
    Value there = isRow(e[0]);
    Value some =
        arith::SelectOp::create(b, s.loc, there, e[0], s.zero(e[0].getType()));
    Value place = arith::IndexCastOp::create(b, s.loc, b.getIndexType(), some);
    Value found = tensor::ExtractOp::create(b, s.loc, array, place);
    if (found.getType() != integer)
      found = arith::ExtSIOp::create(b, s.loc, integer, found);
    return minusOneUnless(there, found);
  });
}

Value TileRows::next(Value numbers) {
  return numbersBy(numbers, [&](ValueRange e) -> Value {
    Value one = arith::ConstantIntOp::create(b, s.loc, e[0].getType(), 1);
    Value following = arith::AddIOp::create(b, s.loc, e[0], one);
    return minusOneUnless(isRow(e[0]), following);
  });
}

Value TileRows::countedFrom(Value first, Value numbers) {
  Value start = arith::IndexCastOp::create(b, s.loc, integer, first);
  return numbersBy({numbers, start}, [&](ValueRange e) -> Value {
    Value own = arith::SubIOp::create(b, s.loc, e[0], e[1]);
    return minusOneUnless(isRow(e[0]), own);
  });
}

Value TileRows::difference(Value end, Value begin) {
  return numbersBy({end, begin}, [&](ValueRange e) -> Value {
    return arith::SubIOp::create(b, s.loc, e[0], e[1]);
  });
}

Value TileRows::at(Value begin, Value lengths, Value step) {
  Value number = arith::IndexCastOp::create(b, s.loc, integer, step);
  return numbersBy({begin, lengths, number}, [&](ValueRange e) -> Value {
    Value inside =
        arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::slt, e[2], e[1]);
    Value place = arith::AddIOp::create(b, s.loc, e[0], e[2]);
    return minusOneUnless(inside, place);
  });
}

Value TileRows::mostOf(Value numbers) {
  Type element = typeOf(numbers).getElementType();
  Value empty = tensor::EmptyOp::create(b, s.loc, ArrayRef<int64_t>{}, element);
  auto most = linalg::ReduceOp::create(
      b, s.loc, numbers, s.filled(s.zero(element), empty), ArrayRef<int64_t>{0},
      [&](OpBuilder &nested, Location loc, ValueRange e) {
        Value more = arith::MaxSIOp::create(nested, loc, e[0], e[1]);
        linalg::YieldOp::create(nested, loc, more);
      });
  Value number =
      tensor::ExtractOp::create(b, s.loc, most.getResult(0), ValueRange{});
  return arith::IndexCastOp::create(b, s.loc, b.getIndexType(), number);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value TileRows::gathered(Value table, Value numbers) {
  SmallVector<int64_t> shape(typeOf(table).getShape());
  shape[0] = count;
  Value empty =
      tensor::EmptyOp::create(b, s.loc, shape, typeOf(table).getElementType());
  return block::GatherOp::create(b, s.loc, empty.getType(), table, numbers,
                                 empty);
}

void TileRows::readInputs(Level level, Value numbers) {
  const Order &order = blocks.order;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Space space = op.inputSpace(i);
    if (blocks.levelOf(space) != level)
      continue;
    if (Value tile = tiles.lookup(static_cast<unsigned>(i))) {
      rows[i] = tile;
      continue;
    }
    if (space == Space::Rel && relation) {
      isShared[i] = true;
      rows[i] =
          typeOf(input).getRank() == 1
              ? tensor::ExtractOp::create(b, s.loc, input, relation).getResult()
              : s.read(input, 0, relation);
      continue;
    }
    Value own = numbers;
    if (space == Space::Rel)
      own = entries(order.pairRelation, numbers);
    else if (level == Edge && space == Space::Edge)
      own = order.edge ? entries(order.edge, numbers) : numbers;
    else if (level == Edge)
      own = entries(space == Space::Src || space == Space::Dst ? order.far
                                                               : order.farPair,
                    numbers);
    rows[i] = gathered(input, own);
  }
}

Values TileRows::execute() {
  Values yielded = block::executeForRows(b, s.loc, op.getBody().front(), rows,
                                         isShared, count);
  return llvm::map_to_vector(
      results, [&](Result &result) { return yielded[result.number]; });
}

Value TileRows::masked(Value numbers, ValueRange inputs, Value into,
                       function_ref<Value(Value, ValueRange)> body) {
  RankedTensorType type = typeOf(into);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps{
      AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(0), b.getContext())};
  maps.append(inputs.size() + 1, identity);
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Values all{numbers};
  llvm::append_range(all, inputs);
  auto generic = linalg::GenericOp::create(
      b, s.loc, TypeRange(type), all, into, maps, loops,
      [&](OpBuilder &nested, Location, ValueRange e) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Value there = isRow(e[0]);
        linalg::YieldOp::create(b, s.loc, body(there, e.drop_front()));
      });
  return generic.getResult(0);
}

Value TileRows::zerosUnless(Value numbers, Value rows) {
  Value empty = s.emptyLike(rows, typeOf(rows).getElementType());
  return masked(numbers, rows, empty, [&](Value there, ValueRange e) -> Value {
    return arith::SelectOp::create(b, s.loc, there, e[0],
                                   s.zero(e[0].getType()));
  });
}

bool TileRows::isGathered(const Result &result, Level level) {
  auto argument = dyn_cast<BlockArgument>(
      op.getBody().front().getTerminator()->getOperand(result.number));
  return argument && !isShared[argument.getArgNumber()] &&
         !tiles.contains(argument.getArgNumber()) &&
         blocks.levelOf(op.inputSpace(argument.getArgNumber())) >= level;
}

void TileRows::start(Level level) {
  for (Result &result : results) {
    if (result.level != level || result.combiner == Combiner::None)
      continue;
    FloatType element = computeType(result.type.getElementType());
    Value scalar = arith::ConstantOp::create(
        b, s.loc, b.getFloatAttr(element, firstOf(result.combiner, element)));
    SmallVector<int64_t> shape{count};
    llvm::append_range(shape, result.type.getShape().drop_front(
                                  result.space == Space::All ? 0 : 1));
    result.sum =
        s.filled(scalar, tensor::EmptyOp::create(b, s.loc, shape, element));
  }
}

void TileRows::visit(Value numbers, Level level) {
  for (auto [result, row] : llvm::zip_equal(results, execute())) {
    if (result.combiner == Combiner::None) {
      result.sum = row;
      continue;
    }
    Combiner combiner = result.combiner;
    bool isZero = combiner == Combiner::Sum && isGathered(result, level);
    result.sum = masked(
        numbers, row, result.sum, [&](Value there, ValueRange e) -> Value {
          ScalarBuilder scalars(b, s.loc);
          Value more = scalars.convert(e[0], e[1]);
          more = combined(b, s.loc, combiner, e[1], more);
          return isZero ? more : scalars.select(there, more, e[1]);
        });
  }
}

void TileRows::store(Level level, Value first, Value numbers) {
  Value own;
  for (Result &result : results) {
    if (result.level != level)
      continue;
    if (!own)
      own = countedFrom(first, numbers);
    Value converted = ScalarBuilder(b, s.loc).convert(
        result.sum, result.type.getElementType());
    result.part = block::ScatterOp::create(b, s.loc, result.part.getType(),
                                           converted, own, result.part,
                                           /*accumulate=*/false);
  }
}

//===----------------------------------------------------------------------===//
// Edges, pairs and nodes
//===----------------------------------------------------------------------===//

void TileRows::visitEdges(Value begin, Value end, Level level) {
  Value lengths = difference(end, begin);
  if (givesOnes(op) && llvm::all_of(results, [&](Result &result) {
        return result.level == level && result.combiner == Combiner::Sum &&
               typeOf(result.sum).getRank() == 1;
      })) {
    // As many as there are edges; sums of ones are exact as far as floats
    // count.
    for (Result &result : results)
      result.sum =
          arith::SIToFPOp::create(b, s.loc, result.sum.getType(), lengths);
    return;
  }
  loop(mostOf(lengths), level, [&](Value step) {
    Value edges = at(begin, lengths, step);
    readInputs(Edge, edges);
    visit(edges, Edge);
    store(Edge, group.firstEdge, edges);
  });
}

void TileRows::visitEdgesOf(Value pairs) {
  Value begin = entries(blocks.order.pairEdges, pairs);
  visitEdges(begin, entries(blocks.order.pairEdges, next(pairs)), Pair);
}

void TileRows::visitPairs(Value pairs) {
  readInputs(Pair, pairs);
  start(Pair);
  if (op.getOver() == Space::Edge)
    visitEdgesOf(pairs);
  else
    visit(pairs, Pair);
  store(Pair, group.firstPair, pairs);
}

void TileRows::visitNodes(Value nodes) {
  const Order &order = blocks.order;
  readInputs(Node, nodes);
  start(Node);
  Value begin = entries(order.nodePairs, nodes);
  Value end = entries(order.nodePairs, next(nodes));
  bool byPair =
      op.getOver() != Space::Edge ||
      llvm::any_of(results,
                   [](Result &result) { return result.level == Pair; }) ||
      llvm::any_of(llvm::seq(op.getInputs().size()), [&](size_t i) {
        return blocks.levelOf(op.inputSpace(i)) == Pair;
      });
  if (byPair) {
    Value lengths = difference(end, begin);
    loop(mostOf(lengths), Node,
         [&](Value step) { visitPairs(at(begin, lengths, step)); });
  } else {
    // A node's pairs, and so its edges, are one after another.
    Value firstEdges = entries(order.pairEdges, begin);
    visitEdges(firstEdges, entries(order.pairEdges, end), Node);
  }
  // A maximum of nothing is 0.
  Value some;
  for (Result &result : results) {
    if (result.level != Node || result.combiner == Combiner::Sum)
      continue;
    if (!some)
      some = numbersBy({begin, end}, [&](ValueRange e) -> Value {
        Value any = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::slt,
                                          e[0], e[1]);
        return minusOneUnless(any, e[0]);
      });
    result.sum = zerosUnless(some, result.sum);
  }
  store(Node, group.firstNode, nodes);
}

Values TileRows::build() {
  SmallVector<Blocks::Output> outputs;
  for (Result &result : results) {
    RankedTensorType type = result.type;
    if (result.space == Space::All)
      type = type.clone(computeType(type.getElementType()));
    outputs.push_back({type, result.space});
  }
  Values filled = blocks.run(outputs, [&](const Blocks::Group &owned,
                                          ValueRange parts) {
    group = owned;
    for (auto [result, part] : llvm::zip_equal(results, parts))
      result.part = part;
    start(Grouped);
    Value last = blocks.add(group.firstNode, group.nodes);
    Value tilesOfNodes =
        arith::CeilDivUIOp::create(b, s.loc, group.nodes, s.index(count));
    loop(tilesOfNodes, Grouped, [&](Value tile) {
      Value first = blocks.add(group.firstNode, blocks.mul(tile, count));
      visitNodes(numbersBy({first, last}, [&](ValueRange e) -> Value {
        Value i = linalg::IndexOp::create(b, s.loc, 0);
        Value node = arith::AddIOp::create(b, s.loc, e[0], i);
        Value there = arith::CmpIOp::create(b, s.loc, arith::CmpIPredicate::slt,
                                            node, e[1]);
        Value number = arith::IndexCastOp::create(b, s.loc, integer, node);
        return minusOneUnless(there, number);
      }));
    });
    return llvm::map_to_vector(results, [&](Result &result) -> Value {
      if (result.space != Space::All)
        return result.part;
      Value zeros =
          s.filled(s.zero(typeOf(result.part).getElementType()), result.part);
      return linalg::ReduceOp::create(
                 b, s.loc, result.sum, zeros, ArrayRef<int64_t>{0},
                 [&](OpBuilder &nested, Location loc, ValueRange e) {
                   Value sum = arith::AddFOp::create(nested, loc, e[1], e[0]);
                   linalg::YieldOp::create(nested, loc, sum);
                 })
          .getResult(0);
    });
  });
  for (auto [result, value] : llvm::zip_equal(results, filled))
    if (result.space == Space::All)
      value = blocks.addGroups(value, result.type);
  return filled;
}

//===----------------------------------------------------------------------===//
// Tiles of a sweep
//===----------------------------------------------------------------------===//

Values TileRows::rowsOf(const Members &members) {
  relation = members.relation;
  readInputs(Node, members.nodes);
  readInputs(Pair, members.pairs);
  start(Pair);
  bool overEdges = op.getOver() == Space::Edge;
  if (overEdges)
    visitEdgesOf(members.pairs);
  else
    visit(members.pairs, Node);
  return llvm::map_to_vector(results, [&](Result &result) -> Value {
    // Sums over the edges of no pair are 0 already.
    bool isZero =
        overEdges ? result.combiner == Combiner::Sum : isGathered(result, Node);
    Value rows = isZero ? result.sum : zerosUnless(members.pairs, result.sum);
    return ScalarBuilder(b, s.loc).convert(rows, result.type.getElementType());
  });
}

Values TileRows::addTo(const Members &members, ValueRange parts,
                       Value firstNode) {
  relation = members.relation;
  readInputs(Node, members.nodes);
  readInputs(Pair, members.pairs);
  Value own = countedFrom(firstNode, members.nodes);
  // A node has one pair of a relation: no row is met twice.
  for (auto [result, part] : llvm::zip_equal(results, parts)) {
    result.part = part;
    result.sum = gathered(part, own);
  }
  visit(members.pairs, Node);
  return llvm::map_to_vector(results, [&](Result &result) -> Value {
    return block::ScatterOp::create(b, s.loc, result.part.getType(), result.sum,
                                    own, result.part,
                                    /*accumulate=*/false);
  });
}

} // namespace drawloom::rgnn
