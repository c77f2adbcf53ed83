//===- RgnnDecompose.cpp - the rgnn ops as block programs -----------------===//
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

#include "dialects/Block/Block.h"
#include "dialects/Block/SliceBuilder.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using drawloom::block::SliceBuilder;

namespace drawloom::rgnn {

using Values = SmallVector<Value>;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Bytes of a row, or of a whole tensor of known shape.
static int64_t bytesOf(RankedTensorType type, FloatType element) {
  return ShapedType::getNumElements(type.getShape()) *
         llvm::divideCeil(element.getWidth(), 8);
}

namespace {

/// Sums that every group of blocks has a part of are for so many groups at
/// most, and together have so many bytes.
constexpr int64_t mostGroups = 64, mostGroupBytes = 16 << 20;

/// Runs block programs over the blocks of one order of the edges.
class Blocks {
public:
  /// With `partBytes`, blocks are put in groups, each of which keeps as many
  /// bytes of sums.
  Blocks(OpBuilder &builder, Location loc, GraphOp graph, Direction direction,
         int64_t partBytes);

  SliceBuilder s;
  Direction direction;
  Order order;
  int64_t rowsPerBlock;

  /// What a group of blocks owns.
  struct Group {
    Value number, firstBlock, lastBlock;
    Value firstNode, nodes, firstPair, pairs, firstEdge, edges;
  };
  /// One tensor that the program writes: all of it, and the part of a group.
  struct Output {
    RankedTensorType type;
    Space space;
    /// What `space` says of rows without an owner: they are kept by group.
    bool byGroup() const { return space == Space::Rel || space == Space::All; }
  };
  /// scf.forall over the groups; `body` gets the parts of the outputs that a
  /// group owns and returns them, filled.
  Values run(ArrayRef<Output> outputs,
             function_ref<Values(const Group &, ValueRange parts)> body);

  /// Adds up what groups have of one output.
  Value addGroups(Value parts, RankedTensorType type);

  Value add(Value a, Value b) {
    return arith::AddIOp::create(s.b, s.loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(s.b, s.loc, a, b);
  }
  Value mul(Value a, int64_t b) {
    return arith::MulIOp::create(s.b, s.loc, a, s.index(b));
  }
  Value least(Value a, Value b) {
    return arith::MinSIOp::create(s.b, s.loc, a, b);
  }
  Value next(Value a) { return add(a, s.index(1)); }
  /// An element of an index tensor.
  Value at(Value indices, Value i) { return s.rowNumber(indices, i); }

private:
  Value nodes, blocks, groups, groupBlocks;
  int64_t knownGroups = ShapedType::kDynamic;
};

/// One rgnn.traverse in one direction.
class Sweep {
public:
  Sweep(TraverseOp op, Direction direction, OpBuilder &builder,
        ArrayRef<unsigned> results);
  /// The results that were asked for.
  Values build();

private:
  /// How far in a row is known: by all, a group, a node, a pair or an edge.
  enum Level { Whole, Grouped, Node, Pair, Edge };
  Level levelOf(Space space) const;

  /// One result. The accumulator is there from its level inwards, the part of
  /// the group that it ends up in until then.
  struct Result {
    unsigned number;
    Space space;
    rgnn::Combiner combiner;
    RankedTensorType type;
    /// The type of a row while it is summed.
    Type row;
    Level level;
    Value part, sum;
  };

  /// A loop inside of `level`: carries what is written in it.
  void loop(Value lower, Value upper, Level level,
            function_ref<void(Value)> body);
  SmallVector<Value *> carried(Level level);

  /// The rows of the inputs that are known at `level`.
  void readInputs(Level level, Value row);
  Value readRow(Value tensor, Value row);
  Value writeRow(Value row, Value part, Value at);
  void visitNode(Value node);
  void visitPair(Value pair);
  void visitEdge(Value edge);
  /// Executes the region and combines what it yields.
  void visitRegion();
  void start(Level level);
  void combine(Result &result, Value row);
  Value combined(rgnn::Combiner combiner, Value sum, Value row);
  Value zeroWhereNone(Value row, Value none);
  Value converted(Value row, Type wanted);

  TraverseOp op;
  OpBuilder &b;
  Blocks blocks;
  SliceBuilder &s;
  SmallVector<Result> results;
  Values rows;
  Blocks::Group group;
};

} // namespace

//===----------------------------------------------------------------------===//
// Blocks.
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// rgnn.traverse
//===----------------------------------------------------------------------===//

static int64_t groupedBytes(TraverseOp op, ArrayRef<unsigned> results) {
  int64_t bytes = 0;
  for (unsigned i : results)
    if (op.resultSpace(i) == Space::Rel || op.resultSpace(i) == Space::All) {
      auto type = cast<RankedTensorType>(op.getResult(i).getType());
      bytes += bytesOf(type, computeType(type.getElementType()));
    }
  return bytes;
}

Sweep::Sweep(TraverseOp op, Direction direction, OpBuilder &builder,
             ArrayRef<unsigned> numbers)
    : op(op), b(builder), blocks(builder, op.getLoc(), graphOf(op.getGraph()),
                                 direction, groupedBytes(op, numbers)),
      s(blocks.s), rows(op.getInputs().size()) {
  for (unsigned i : numbers) {
    auto type = cast<RankedTensorType>(op.getResult(i).getType());
    Space space = op.resultSpace(i);
    Type row = rowType(type.clone(computeType(type.getElementType())), space);
    // Relations have no part of the loops of their own: a pair's sum is added.
    Level level = space == Space::Rel ? Pair : levelOf(space);
    if (space == Space::All)
      level = Grouped;
    results.push_back(
        {i, space, op.combiner(i), type, row, level, Value(), Value()});
  }
}

Sweep::Level Sweep::levelOf(Space space) const {
  if (space == Space::All)
    return Whole;
  if (space == nodesOf(blocks.direction))
    return Node;
  return space == pairsOf(blocks.direction) || space == Space::Rel ? Pair
                                                                   : Edge;
}

SmallVector<Value *> Sweep::carried(Level level) {
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

void Sweep::loop(Value lower, Value upper, Level level,
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

Value Sweep::readRow(Value tensor, Value row) {
  if (typeOf(tensor).getRank() == 1)
    return tensor::ExtractOp::create(b, s.loc, tensor, row);
  return s.read(tensor, 0, row);
}

Value Sweep::writeRow(Value row, Value part, Value at) {
  if (typeOf(part).getRank() == 1)
    return tensor::InsertOp::create(b, s.loc, row, part, at);
  return s.write(row, part, 0, at);
}

void Sweep::readInputs(Level level, Value row) {
  const Order &order = blocks.order;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Space space = op.inputSpace(i);
    if (levelOf(space) != level)
      continue;
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

Value Sweep::converted(Value row, Type wanted) {
  return ScalarBuilder(b, s.loc).convert(row, getElementTypeOrSelf(wanted));
}

void Sweep::start(Level level) {
  for (Result &result : results) {
    if (result.level != level || result.combiner == rgnn::Combiner::None)
      continue;
    auto element = cast<FloatType>(getElementTypeOrSelf(result.row));
    bool sum = result.combiner == rgnn::Combiner::Sum;
    Value first = arith::ConstantOp::create(
        b, s.loc,
        sum ? b.getFloatAttr(element, 0.0)
            : b.getFloatAttr(element,
                             APFloat::getInf(element.getFloatSemantics(),
                                             /*Negative=*/true)));
    if (auto type = dyn_cast<RankedTensorType>(result.row))
      first = s.filled(
          first, tensor::EmptyOp::create(b, s.loc, type.getShape(), element));
    result.sum = first;
  }
}

Value Sweep::combined(rgnn::Combiner combiner, Value sum, Value row) {
  auto both = [&](Value a, Value c) -> Value {
    if (combiner == rgnn::Combiner::Sum)
      return arith::AddFOp::create(b, s.loc, a, c);
    return arith::MaximumFOp::create(b, s.loc, a, c);
  };
  if (!isa<RankedTensorType>(sum.getType()))
    return both(sum, row);
  return s.elementwise(
      row, sum, [&](ValueRange e) -> Values { return {both(e[1], e[0])}; })[0];
}

void Sweep::combine(Result &result, Value row) {
  if (result.combiner == rgnn::Combiner::None)
    result.sum = row;
  else
    result.sum =
        combined(result.combiner, result.sum, converted(row, result.row));
}

void Sweep::visitRegion() {
  IRMapping mapping;
  Block &body = op.getBody().front();
  mapping.map(body.getArguments(), rows);
  for (Operation &inner : body.without_terminator())
    b.clone(inner, mapping);
  auto yield = cast<YieldOp>(body.getTerminator());
  for (Result &result : results)
    combine(result, mapping.lookupOrDefault(yield.getOperand(result.number)));
}

void Sweep::visitEdge(Value edge) {
  readInputs(Edge, edge);
  visitRegion();
  for (Result &result : results)
    if (result.level == Edge)
      result.part =
          writeRow(result.sum, result.part, blocks.sub(edge, group.firstEdge));
}

void Sweep::visitPair(Value pair) {
  readInputs(Pair, pair);
  start(Pair);
  if (op.getOver() == Space::Edge) {
    Value first = blocks.at(blocks.order.pairEdges, pair);
    Value last = blocks.at(blocks.order.pairEdges, blocks.next(pair));
    loop(first, last, Pair, [&](Value edge) { visitEdge(edge); });
  } else {
    visitRegion();
  }
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

/// A maximum of nothing is 0.
Value Sweep::zeroWhereNone(Value row, Value none) {
  auto choose = [&](Value element) -> Value {
    return arith::SelectOp::create(b, s.loc, none, s.zero(element.getType()),
                                   element);
  };
  if (!isa<RankedTensorType>(row.getType()))
    return choose(row);
  return s.elementwise(
      {}, row, [&](ValueRange e) -> Values { return {choose(e[0])}; })[0];
}

void Sweep::visitNode(Value node) {
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
    if (result.combiner != rgnn::Combiner::Sum)
      row = zeroWhereNone(row, arith::CmpIOp::create(b, s.loc,
                                                     arith::CmpIPredicate::eq,
                                                     first, last));
    result.part = writeRow(converted(row, result.type), result.part, node);
  }
}

Values Sweep::build() {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (op.inputSpace(i) == Space::All)
      rows[i] = typeOf(input).getRank() == 0
                    ? tensor::ExtractOp::create(b, s.loc, input, ValueRange{})
                          .getResult()
                    : input;
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

FailureOr<SmallVector<Value>>
TraverseOp::decomposeOperation(OpBuilder &builder) {
  // What goes to sources is swept by outgoing edges. What goes nowhere in
  // particular joins where it can.
  auto owned = [&](unsigned i, Direction direction) {
    Space space = resultSpace(i);
    return isAt(space, direction) ||
           (space == Space::Edge && direction == Direction::Incoming);
  };
  auto numbers = llvm::seq(getNumResults());
  bool incoming = getOver() == Space::DstRel ||
                  (getOver() == Space::Edge &&
                   (graphOf(getGraph()).getOutgoing().empty() ||
                    llvm::none_of(numbers,
                                  [&](unsigned i) {
                                    return owned(i, Direction::Outgoing);
                                  }) ||
                    llvm::any_of(numbers, [&](unsigned i) {
                      return owned(i, Direction::Incoming);
                    })));
  SmallVector<unsigned> byDirection[2];
  Values values(getNumResults());
  for (unsigned i : numbers)
    byDirection[owned(i, Direction::Outgoing) ||
                (!owned(i, Direction::Incoming) && !incoming)]
        .push_back(i);
  for (Direction direction : {Direction::Incoming, Direction::Outgoing}) {
    ArrayRef<unsigned> results = byDirection[direction == Direction::Outgoing];
    if (results.empty())
      continue;
    for (auto [i, value] : llvm::zip_equal(
             results, Sweep(*this, direction, builder, results).build()))
      values[i] = value;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// rgnn.linear and rgnn.outer
//===----------------------------------------------------------------------===//

namespace {
/// Products by tiles of pairs that share a relation.
class TileProducts {
public:
  TileProducts(OpBuilder &builder, Location loc, GraphOp graph,
               Direction direction, int64_t partBytes)
      : blocks(builder, loc, graph, direction, partBytes), s(blocks.s),
        tileRows(typeOf(blocks.order.tilePair).getDimSize(1)) {}

  Blocks blocks;
  SliceBuilder &s;
  int64_t tileRows;

  /// The pairs or the near nodes of a tile.
  Value numbers(Value tile, Space space) {
    return s.read(space == pairsOf(blocks.direction) ? blocks.order.tilePair
                                                     : blocks.order.tileNode,
                  0, tile);
  }
  /// The rows that a tile has of a tensor; zeros where there is no pair.
  Value gather(Value tensor, Value numbers) {
    RankedTensorType type = typeOf(tensor);
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = tileRows;
    Value empty =
        tensor::EmptyOp::create(s.b, s.loc, shape, type.getElementType());
    return block::GatherOp::create(s.b, s.loc, empty.getType(), tensor, numbers,
                                   empty);
  }
  Value zeros(ArrayRef<int64_t> shape, Type element) {
    return s.filled(s.zero(element),
                    tensor::EmptyOp::create(s.b, s.loc, shape, element));
  }
  /// sum += a b over the dimensions that the sum lacks; maps by letters of
  /// dimensions.
  Value multiply(Value a, StringRef aLoops, Value b, StringRef bLoops,
                 Value sum, StringRef sumLoops) {
    StringRef loops = sumLoops.size() == 3 ? "hmnk" : "mnk";
    auto map = [&](StringRef letters) {
      SmallVector<AffineExpr> exprs;
      for (char letter : letters)
        exprs.push_back(s.b.getAffineDimExpr(loops.find(letter)));
      return AffineMap::get(loops.size(), 0, exprs, s.b.getContext());
    };
    SmallVector<AffineMap> maps = {map(aLoops), map(bLoops), map(sumLoops)};
    return linalg::ContractOp::create(s.b, s.loc, TypeRange(sum.getType()),
                                      ValueRange{a, b}, ValueRange{sum},
                                      s.b.getAffineMapArrayAttr(maps))
        .getResult(0);
  }
  /// Goes through the tiles of a group.
  Value overTiles(const Blocks::Group &group, Value carried,
                  function_ref<Value(Value tile, Value carried)> body) {
    Value first = blocks.at(blocks.order.blockTiles, group.firstBlock);
    Value last = blocks.at(blocks.order.blockTiles, group.lastBlock);
    return s.loop(first, last, carried, [&](Value tile, ValueRange args) {
      return Values{body(tile, args[0])};
    })[0];
  }
};
} // namespace

FailureOr<SmallVector<Value>> LinearOp::decomposeOperation(OpBuilder &builder) {
  Direction direction = directionOf(getAt());
  TileProducts tiles(builder, getLoc(), graphOf(getGraph()), direction,
                     /*partBytes=*/0);
  SliceBuilder &s = tiles.s;
  RankedTensorType y = typeOf(getY());
  FloatType wide = computeType(y.getElementType());
  bool heads = y.getRank() == 3;
  auto body = [&](const Blocks::Group &group, ValueRange parts) {
    auto each = [&](Value tile, Value part) -> Value {
      Value numbers = tiles.numbers(tile, getAt());
      Value x = tiles.gather(getX(), numbers);
      Value relation = tiles.blocks.at(tiles.blocks.order.tileRelation, tile);
      Value w = s.read(getW(), 0, relation);
      SmallVector<int64_t> shape(y.getShape());
      shape[0] = tiles.tileRows;
      Value product = tiles.multiply(
          x, heads ? "mhk" : "mk", w,
          getTranspose() ? (heads ? "hnk" : "nk") : (heads ? "hkn" : "kn"),
          tiles.zeros(shape, wide), heads ? "mhn" : "mn");
      product =
          ScalarBuilder(builder, getLoc()).convert(product, y.getElementType());
      // Rows of the part are counted from the first pair of the group.
      Value pairs = tiles.numbers(tile, pairsOf(direction));
      Type index = typeOf(pairs).getElementType();
      Value first =
          arith::IndexCastOp::create(builder, getLoc(), index, group.firstPair);
      Value own = s.elementwise({}, pairs, [&](ValueRange e) -> Values {
        return {arith::SubIOp::create(builder, getLoc(), e[0], first)};
      })[0];
      return block::ScatterOp::create(builder, getLoc(), part.getType(),
                                      product, own, part,
                                      /*accumulate=*/false);
    };
    return Values{tiles.overTiles(group, parts[0], each)};
  };
  return tiles.blocks.run({{y, pairsOf(direction)}}, body);
}

FailureOr<SmallVector<Value>> OuterOp::decomposeOperation(OpBuilder &builder) {
  RankedTensorType w = typeOf(getW());
  RankedTensorType wide = w.clone(computeType(w.getElementType()));
  TileProducts tiles(builder, getLoc(), graphOf(getGraph()),
                     directionOf(getAAt()),
                     bytesOf(w, cast<FloatType>(wide.getElementType())));
  SliceBuilder &s = tiles.s;
  bool heads = w.getRank() == 4;
  auto body = [&](const Blocks::Group &group, ValueRange parts) {
    Value zeros = s.filled(s.zero(wide.getElementType()), parts[0]);
    auto each = [&](Value tile, Value part) -> Value {
      Value a = tiles.gather(getA(), tiles.numbers(tile, getAAt()));
      Value c = tiles.gather(getB(), tiles.numbers(tile, getBAt()));
      Value relation = tiles.blocks.at(tiles.blocks.order.tileRelation, tile);
      Value sum =
          tiles.multiply(a, heads ? "khm" : "km", c, heads ? "khn" : "kn",
                         s.read(part, 0, relation), heads ? "hmn" : "mn");
      return s.write(sum, part, 0, relation);
    };
    return Values{tiles.overTiles(group, zeros, each)};
  };
  Value parts = tiles.blocks.run({{wide, Space::Rel}}, body)[0];
  return Values{tiles.blocks.addGroups(parts, w)};
}

} // namespace drawloom::rgnn
