//===- RgnnDecompose.cpp - the rgnn ops as block programs -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Rgnn/EdgeRows.h"
#include "dialects/Rgnn/TileRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using drawloom::block::SliceBuilder;

namespace drawloom::rgnn {

/// The results of an op on a graph that is known to have no edges: zeros.
/// (Slices of tensors without elements do not verify.)
static std::optional<Values> resultsWithoutEdges(OpBuilder &builder,
                                                 Operation *op, GraphOp graph) {
  if (typeOf(graph.getIncoming()[3]).getDimSize(0) != 0)
    return std::nullopt;
  SliceBuilder s{builder, op->getLoc()};
  Values zeros;
  for (Value result : op->getResults()) {
    RankedTensorType type = typeOf(result);
    if (!type.hasStaticShape())
      return std::nullopt;
    Value empty =
        tensor::EmptyOp::create(builder, op->getLoc(), type, ValueRange{});
    zeros.push_back(s.filled(s.zero(type.getElementType()), empty));
  }
  return zeros;
}

/// Rows of edges of so many elements are also computed in the order of outgoing
/// edges.
static constexpr int64_t mostOrderedElements = 16;

/// Rows in the order of outgoing edges, in that of the edges' numbers, of which
/// each is there once.
static Value inOrderOfEdges(Blocks &blocks, Value rows) {
  SliceBuilder &s = blocks.s;
  OpBuilder::InsertionGuard guard(s.b);
  Value empty = s.emptyLike(rows, typeOf(rows).getElementType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(s.b, s.loc, rows);
  scf::ForallOp loop = block::blocksOf(s.b, s.loc, sizes[0], empty);
  s.b.setInsertionPoint(loop.getTerminator());
  Value place = loop.getInductionVar(0);
  OpFoldResult one = s.b.getIndexAttr(1);
  sizes[0] = one;
  SmallVector<OpFoldResult> offsets(sizes.size(), s.b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), one);
  offsets[0] = place;
  Value row =
      tensor::ExtractSliceOp::create(s.b, s.loc, rows, offsets, sizes, strides);
  offsets[0] = blocks.at(blocks.order.edge, place);
  s.b.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      s.b, s.loc, row, loop.getRegionIterArgs()[0], offsets, sizes, strides);
  return loop.getResult(0);
}

static bool runsInLockstep(TraverseOp op, ArrayRef<unsigned> results) {
  return machineFactsOf(op).lockstep && TileRows::handles(op, results);
}

FailureOr<SmallVector<Value>>
TraverseOp::decomposeOperation(OpBuilder &builder) {
  if (auto zeros = resultsWithoutEdges(builder, *this, graphOf(getGraph())))
    return *zeros;
  assertExtents(builder, *this);
  // What goes to sources is swept by outgoing edges. What goes nowhere in
  // particular joins where it can; narrow rows of edges also go with outgoing
  // ones, and are put in order behind them.
  auto numbers = llvm::seq(getNumResults());
  bool anyIncoming = llvm::any_of(numbers, [&](unsigned i) {
    return isAt(resultSpace(i), Direction::Incoming);
  });
  bool anyOutgoing = llvm::any_of(numbers, [&](unsigned i) {
    return isAt(resultSpace(i), Direction::Outgoing);
  });
  auto owned = [&](unsigned i, Direction direction) {
    Space space = resultSpace(i);
    if (space != Space::Edge)
      return isAt(space, direction);
    bool outgoing = anyOutgoing && !anyIncoming &&
                    ShapedType::getNumElements(
                        typeOf(getResult(i)).getShape().drop_front()) <=
                        mostOrderedElements;
    return outgoing == (direction == Direction::Outgoing);
  };
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
    Blocks blocks(builder, getLoc(), graphOf(getGraph()), direction,
                  groupedBytes(*this, results));
    int64_t tileRows = typeOf(blocks.order.tilePair).getDimSize(1);
    Values filled = runsInLockstep(*this, results)
                        ? TileRows(*this, blocks, results, tileRows).build()
                        : EdgeRows(*this, blocks, results).build();
    for (auto [i, value] : llvm::zip_equal(results, filled))
      values[i] =
          resultSpace(i) == Space::Edge && direction == Direction::Outgoing
              ? inOrderOfEdges(blocks, value)
              : value;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// rgnn.linear, rgnn.outer and rgnn.sweep
//===----------------------------------------------------------------------===//

namespace {

/// Ops on the pairs of one direction, tile by tile: pairs of a block that share
/// a relation. What one op gives to pairs is in a tile for the next.
class TileSweep {
public:
  /// `ops` in order; `wanted` are their results that somebody reads.
  TileSweep(OpBuilder &builder, Location loc, ArrayRef<Operation *> ops,
            ValueRange wanted);
  Values build();

private:
  static Direction directionOfOps(ArrayRef<Operation *> ops);
  /// Bytes of the sums that each group of blocks keeps.
  static int64_t bytesByGroup(ArrayRef<Operation *> ops);

  /// The matrices of a product, as it multiplies by them.
  void takeMatrices(LinearOp op);
  /// The pairs or the near nodes of a tile.
  Value numbers(Space space);
  /// The rows that the tile has of a tensor, in a tile where one of the ops
  /// gives it; zeros where there is no pair.
  Value rowsOf(Value tensor, Space space);
  Value zeros(ArrayRef<int64_t> shape, Type element);
  /// sum += a b over the dimensions that the sum lacks; loops by letters.
  Value multiply(Value a, StringRef aLoops, Value b, StringRef bLoops,
                 Value sum, StringRef sumLoops);
  /// The same for a sum of one column: lanes go along what is added up, or
  /// along the column, instead of one element at a time.
  Value multiplyColumn(Value a, StringRef aLoops, Value column, Value sum);
  /// Runs `body` for the members of a tile.
  Values
  forMembers(ValueRange carried,
             function_ref<Values(const EdgeRows::Member &, ValueRange)> body);

  void compute(LinearOp op);
  void compute(OuterOp op);
  void compute(TraverseOp op);
  template <typename Rows> void takeTiles(TraverseOp op, Rows &rows);
  void compute(TraverseOp op, TileRows &rows);
  /// Stores the rows of a tile at the pairs of the group.
  Value store(Value tile, Value part);

  OpBuilder &b;
  Location loc;
  SmallVector<Operation *> ops;
  Values wanted;
  Blocks blocks;
  SliceBuilder &s;
  int64_t tileRows;
  bool lockstep;
  /// Of each product.
  llvm::DenseMap<Operation *, Value> matrices;
  /// Of each op with a region.
  llvm::DenseMap<Operation *, std::unique_ptr<EdgeRows>> regions;
  llvm::DenseMap<Operation *, std::unique_ptr<TileRows>> regionsInLockstep;
  /// What is in tiles, and what the group has of the results that are wanted.
  llvm::DenseMap<Value, Value> tiles, parts;
  Blocks::Group group;
  Value tile, relation;
};

} // namespace

Direction TileSweep::directionOfOps(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    if (auto linear = dyn_cast<LinearOp>(op))
      return directionOf(linear.getAt());
    if (auto outer = dyn_cast<OuterOp>(op))
      return directionOf(outer.getAAt());
  }
  llvm_unreachable("a sweep has a product");
}

int64_t TileSweep::bytesByGroup(ArrayRef<Operation *> ops) {
  int64_t bytes = 0;
  for (Operation *op : ops)
    if (auto outer = dyn_cast<OuterOp>(op))
      bytes += bytesOf(typeOf(outer.getW()),
                       computeType(typeOf(outer.getW()).getElementType()));
  return bytes;
}

/// The graph of an op on one.
static GraphOp graphOfOp(Operation *op) { return graphOf(op->getOperand(0)); }

TileSweep::TileSweep(OpBuilder &builder, Location loc,
                     ArrayRef<Operation *> ops, ValueRange wanted)
    : b(builder), loc(loc), ops(llvm::to_vector(ops)), wanted(wanted),
      blocks(builder, loc, graphOfOp(ops.front()), directionOfOps(ops),
             bytesByGroup(ops)),
      s(blocks.s), tileRows(typeOf(blocks.order.tilePair).getDimSize(1)),
      lockstep(machineFactsOf(ops.front()).lockstep) {
  for (Operation *op : ops)
    assertExtents(builder, op);
  for (Operation *op : ops)
    if (auto linear = dyn_cast<LinearOp>(op)) {
      takeMatrices(linear);
    } else if (auto traverse = dyn_cast<TraverseOp>(op)) {
      auto numbers =
          llvm::to_vector(llvm::seq<unsigned>(0, traverse.getNumResults()));
      if (runsInLockstep(traverse, numbers)) {
        regionsInLockstep[op] =
            std::make_unique<TileRows>(traverse, blocks, numbers, tileRows);
        continue;
      }
      regions[op] = std::make_unique<EdgeRows>(traverse, blocks, numbers);
    }
}

void TileSweep::takeMatrices(LinearOp op) {
  Value w = op.getW();
  if (op.getTranspose()) {
    // Once, instead of for each tile.
    int64_t rank = typeOf(w).getRank();
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(order[rank - 2], order[rank - 1]);
    SmallVector<int64_t> shape(typeOf(w).getShape());
    std::swap(shape[rank - 2], shape[rank - 1]);
    Value empty =
        tensor::EmptyOp::create(b, loc, shape, typeOf(w).getElementType());
    w = linalg::TransposeOp::create(b, loc, w, empty, order).getResult()[0];
  }
  matrices[op] = w;
}

Value TileSweep::numbers(Space space) {
  return s.read(space == pairsOf(blocks.direction) ? blocks.order.tilePair
                                                   : blocks.order.tileNode,
                0, tile);
}

Value TileSweep::rowsOf(Value tensor, Space space) {
  if (Value rows = tiles.lookup(tensor);
      rows && space == pairsOf(blocks.direction))
    return rows;
  RankedTensorType type = typeOf(tensor);
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = tileRows;
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  return block::GatherOp::create(b, loc, empty.getType(), tensor,
                                 numbers(space), empty);
}

Value TileSweep::zeros(ArrayRef<int64_t> shape, Type element) {
  return s.filled(s.zero(element),
                  tensor::EmptyOp::create(b, loc, shape, element));
}

Value TileSweep::multiplyColumn(Value a, StringRef aLoops, Value column,
                                Value sum) {
  auto flat = [&](Value one) -> Value {
    auto type = RankedTensorType::get({typeOf(one).getDimSize(0)},
                                      typeOf(one).getElementType());
    return tensor::CollapseShapeOp::create(
        b, loc, type, one, ArrayRef<ReassociationIndices>{{0, 1}});
  };
  AffineExpr m = b.getAffineDimExpr(0), k = b.getAffineDimExpr(1);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(2, 0, exprs, b.getContext());
  };
  Value start = flat(sum);
  SmallVector<AffineMap> maps{aLoops == "mk" ? map({m, k}) : map({k, m}),
                              map(k), map(m)};
  auto dots = linalg::GenericOp::create(
      b, loc, TypeRange(start.getType()), ValueRange{a, flat(column)}, start,
      maps, {utils::IteratorType::parallel, utils::IteratorType::reduction},
      [&](OpBuilder &nested, Location, ValueRange e) {
        ScalarBuilder scalars(nested, loc);
        Value left = scalars.convert(e[0], e[2]);
        Value right = scalars.convert(e[1], e[2]);
        Value product = scalars.mul(left, right);
        linalg::YieldOp::create(nested, loc, scalars.add(e[2], product));
      });
  return tensor::ExpandShapeOp::create(b, loc, sum.getType(), dots.getResult(0),
                                       ArrayRef<ReassociationIndices>{{0, 1}});
}

Value TileSweep::multiply(Value a, StringRef aLoops, Value c, StringRef cLoops,
                          Value sum, StringRef sumLoops) {
  // Where lanes run in step, a product finds lanes for its rows.
  if (!lockstep && sumLoops == "mn" && typeOf(sum).getDimSize(1) == 1 &&
      typeOf(sum).getDimSize(0) > 1 && cLoops == "kn")
    return multiplyColumn(a, aLoops, c, sum);
  StringRef loops = sumLoops.size() == 3 ? "hmnk" : "mnk";
  auto map = [&](StringRef letters) {
    SmallVector<AffineExpr> exprs;
    for (char letter : letters)
      exprs.push_back(
          b.getAffineDimExpr(static_cast<unsigned>(loops.find(letter))));
    return AffineMap::get(static_cast<unsigned>(loops.size()), 0, exprs,
                          b.getContext());
  };
  SmallVector<AffineMap> maps = {map(aLoops), map(cLoops), map(sumLoops)};
  return linalg::ContractOp::create(b, loc, TypeRange(sum.getType()),
                                    ValueRange{a, c}, ValueRange{sum},
                                    b.getAffineMapArrayAttr(maps))
      .getResult(0);
}

Values TileSweep::forMembers(
    ValueRange carried,
    function_ref<Values(const EdgeRows::Member &, ValueRange)> body) {
  Value pairs = numbers(pairsOf(blocks.direction));
  Value nodes = numbers(nodesOf(blocks.direction));
  return s.loop(s.index(tileRows), carried, [&](Value place, ValueRange args) {
    EdgeRows::Member member;
    member.place = place;
    Value pair = blocks.at(pairs, place), node = blocks.at(nodes, place);
    Value zero = s.index(0);
    member.there = s.isRow(pair);
    member.pair = arith::MaxSIOp::create(b, loc, pair, zero);
    member.node = arith::MaxSIOp::create(b, loc, node, zero);
    return body(member, args);
  });
}

void TileSweep::compute(LinearOp op) {
  RankedTensorType y = typeOf(op.getY());
  bool heads = y.getRank() == 3;
  SmallVector<int64_t> shape(y.getShape());
  shape[0] = tileRows;
  Value x = rowsOf(op.getX(), op.getAt());
  Value w = s.read(matrices.lookup(op), 0, relation);
  Value product = multiply(x, heads ? "mhk" : "mk", w, heads ? "hkn" : "kn",
                           zeros(shape, computeType(y.getElementType())),
                           heads ? "mhn" : "mn");
  tiles[op.getY()] = ScalarBuilder(b, loc).convert(product, y.getElementType());
}

void TileSweep::compute(OuterOp op) {
  bool heads = typeOf(op.getW()).getRank() == 4;
  Value a = rowsOf(op.getA(), op.getAAt());
  Value c = rowsOf(op.getB(), op.getBAt());
  Value &part = parts[op.getW()];
  Value sum = multiply(a, heads ? "khm" : "km", c, heads ? "khn" : "kn",
                       s.read(part, 0, relation), heads ? "hmn" : "mn");
  part = s.write(sum, part, 0, relation);
}

template <typename Rows> void TileSweep::takeTiles(TraverseOp op, Rows &rows) {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (Value rowsInTile = tiles.lookup(input);
        rowsInTile && op.inputSpace(i) == pairsOf(blocks.direction))
      rows.takeFrom(static_cast<unsigned>(i), rowsInTile);
}

void TileSweep::compute(TraverseOp op, TileRows &rows) {
  takeTiles(op, rows);
  TileRows::Members members{numbers(pairsOf(blocks.direction)),
                            numbers(nodesOf(blocks.direction)), relation};
  bool atNodes = op.resultSpace(0) == nodesOf(blocks.direction);
  Values sums;
  if (atNodes)
    for (Value result : op.getResults())
      sums.push_back(parts[result]);
  Values filled = atNodes ? rows.addTo(members, sums, group.firstNode)
                          : rows.rowsOf(members);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), filled))
    (atNodes ? parts : tiles)[result] = value;
}

void TileSweep::compute(TraverseOp op) {
  if (const auto &together = regionsInLockstep[op])
    return compute(op, *together);
  EdgeRows &rows = *regions[op];
  takeTiles(op, rows);
  if (op.resultSpace(0) == nodesOf(blocks.direction)) {
    Values sums;
    for (Value result : op.getResults())
      sums.push_back(parts[result]);
    sums = forMembers(sums,
                      [&](const EdgeRows::Member &member, ValueRange carried) {
                        return rows.addTo(member, carried, group.firstNode);
                      });
    for (auto [result, sum] : llvm::zip_equal(op.getResults(), sums))
      parts[result] = sum;
    return;
  }
  Values empties;
  for (Value result : op.getResults()) {
    SmallVector<int64_t> shape(typeOf(result).getShape());
    shape[0] = tileRows;
    empties.push_back(tensor::EmptyOp::create(b, loc, shape,
                                              typeOf(result).getElementType()));
  }
  Values filled = forMembers(
      empties, [&](const EdgeRows::Member &member, ValueRange carried) {
        Values written;
        for (auto [row, into] : llvm::zip_equal(rows.rowsOf(member), carried))
          written.push_back(
              typeOf(into).getRank() == 1
                  ? tensor::InsertOp::create(b, loc, row, into, member.place)
                        .getResult()
                  : s.write(row, into, 0, member.place));
        return written;
      });
  for (auto [result, rowsInTile] : llvm::zip_equal(op.getResults(), filled))
    tiles[result] = rowsInTile;
}

Value TileSweep::store(Value rows, Value part) {
  // Rows of the part are counted from the first pair of the group.
  Value pairs = numbers(pairsOf(blocks.direction));
  Type index = typeOf(pairs).getElementType();
  Value first = arith::IndexCastOp::create(b, loc, index, group.firstPair);
  Value own = s.elementwise({}, pairs, [&](ValueRange e) -> Values {
    return {arith::SubIOp::create(b, loc, e[0], first)};
  })[0];
  return block::ScatterOp::create(b, loc, part.getType(), rows, own, part,
                                  /*accumulate=*/false);
}

/// Where a result of an op on tiles has its rows.
static Space spaceOf(OpResult result) {
  if (auto traverse = dyn_cast<TraverseOp>(result.getOwner()))
    return traverse.resultSpace(result.getResultNumber());
  if (auto linear = dyn_cast<LinearOp>(result.getOwner()))
    return pairsOf(directionOf(linear.getAt()));
  return Space::Rel;
}

Values TileSweep::build() {
  // Sums are kept in their own type until they are complete.
  SmallVector<Blocks::Output> outputs;
  for (Value value : wanted) {
    Space space = spaceOf(cast<OpResult>(value));
    bool pairs = space == pairsOf(blocks.direction);
    outputs.push_back(
        {pairs ? typeOf(value) : EdgeRows::summedType(typeOf(value)), space});
  }
  Values filled = blocks.run(outputs, [&](const Blocks::Group &owned,
                                          ValueRange given) {
    group = owned;
    Values starts;
    for (auto [output, part] : llvm::zip_equal(outputs, given))
      starts.push_back(
          output.space == pairsOf(blocks.direction)
              ? part
              : s.filled(s.zero(output.type.getElementType()), part));
    Value first = blocks.at(blocks.order.blockTiles, group.firstBlock);
    Value last = blocks.at(blocks.order.blockTiles, group.lastBlock);
    return s.loop(first, last, starts, [&](Value number, ValueRange now) {
      tile = number;
      tiles.clear();
      relation = blocks.at(blocks.order.tileRelation, tile);
      for (auto [value, part] : llvm::zip_equal(wanted, now))
        parts[value] = part;
      for (Operation *op : ops)
        llvm::TypeSwitch<Operation *>(op).Case<LinearOp, OuterOp, TraverseOp>(
            [&](auto known) { compute(known); });
      return llvm::map_to_vector(
          llvm::zip_equal(wanted, outputs), [&](auto both) -> Value {
            auto [value, output] = both;
            if (output.space == pairsOf(blocks.direction))
              return store(tiles.lookup(value), parts.lookup(value));
            return parts.lookup(value);
          });
    });
  });
  for (auto [value, sum, output] : llvm::zip_equal(wanted, filled, outputs)) {
    if (output.byGroup())
      sum = blocks.addGroups(sum, typeOf(value));
    else
      sum = ScalarBuilder(b, loc).convert(sum, typeOf(value).getElementType());
  }
  return filled;
}

FailureOr<SmallVector<Value>> LinearOp::decomposeOperation(OpBuilder &builder) {
  if (auto zeros = resultsWithoutEdges(builder, *this, graphOf(getGraph())))
    return *zeros;
  return TileSweep(builder, getLoc(), getOperation(), getY()).build();
}

FailureOr<SmallVector<Value>> OuterOp::decomposeOperation(OpBuilder &builder) {
  if (auto zeros = resultsWithoutEdges(builder, *this, graphOf(getGraph())))
    return *zeros;
  return TileSweep(builder, getLoc(), getOperation(), getW()).build();
}

FailureOr<SmallVector<Value>> SweepOp::decomposeOperation(OpBuilder &builder) {
  Block &body = getBody().front();
  auto ops = llvm::map_to_vector(body.without_terminator(),
                                 [](Operation &op) { return &op; });
  if (auto zeros = resultsWithoutEdges(builder, *this, graphOfOp(ops.front())))
    return *zeros;
  return TileSweep(builder, getLoc(), ops, body.getTerminator()->getOperands())
      .build();
}

} // namespace drawloom::rgnn
