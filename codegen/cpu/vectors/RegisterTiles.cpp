//===- RegisterTiles.cpp - loops over register tiles ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/RegisterTiles.h"
#include "codegen/cpu/kernels/ShareRepeats.h"
#include "dialects/Block/Block.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {

SmallVector<Piece> cutExtent(int64_t extent, int64_t size) {
  if (ShapedType::isDynamic(extent))
    return {{0, 1, ShapedType::kDynamic}};
  SmallVector<Piece> pieces;
  int64_t offset = 0;
  for (size = llvm::bit_floor<uint64_t>(std::max<int64_t>(size, 1)); size >= 1;
       size /= 2)
    if (int64_t count = (extent - offset) / size) {
      pieces.push_back({offset, size, count});
      offset += size * count;
    }
  return pieces;
}

SmallVector<Piece> coverExtent(int64_t extent, int64_t size) {
  SmallVector<Piece> pieces = cutExtent(extent, size);
  if (pieces.size() <= 2)
    return pieces;
  Piece first = pieces.front();
  return {first, {extent - first.size, first.size, 1}};
}

bool gainsByCovering(LinalgOp op) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::none_of(op.getDpsInitsMutable(),
                       [&](OpOperand &init) {
                         return op.payloadUsesValueFromOperand(&init);
                       }) &&
         llvm::any_of(
             op.getBlock()->without_terminator(),
             [](Operation &inner) { return isElementaryFunction(&inner); });
}

SmallVector<Piece> cutRows(int64_t extent, int64_t size) {
  if (extent == 0 || llvm::isPowerOf2_64(size))
    return cutExtent(extent, size);
  int64_t tiles = llvm::divideCeil(extent, size), least = extent / tiles,
          larger = extent % tiles;
  SmallVector<Piece> pieces;
  if (larger > 0)
    pieces.push_back({0, least + 1, larger});
  pieces.push_back({larger * (least + 1), least, tiles - larger});
  return pieces;
}

SmallVector<Piece> cutReduction(int64_t extent, int64_t size) {
  SmallVector<Piece> pieces;
  size = std::max<int64_t>(size == 2 ? 1 : size, 1);
  if (int64_t count = extent / size)
    pieces.push_back({0, size, count});
  if (int64_t rest = extent % size)
    pieces.push_back({extent - rest, 1, rest});
  return pieces;
}

bool isWithinRow(Operation *op) {
  auto blocks = op->getParentOfType<scf::ForallOp>();
  return op->hasAttr(block::withinRowsAttr) ||
         (blocks && blocks->hasAttr(block::withinRowsAttr));
}

void coverFewRows(LinalgOp op, unsigned along, TilePlan &plan) {
  constexpr int64_t maxRows = 8;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!isWithinRow(op) || ranges.size() != 2 || op->getNumResults() != 1 ||
      plan.pieces[along].front().count != 1)
    return;
  unsigned rows = along == 0 ? 1 : 0;
  if (ranges[rows] > 1 && ranges[rows] <= maxRows)
    plan.pieces[rows] = cutExtent(ranges[rows], ranges[rows]);
}

/// The operation that adds one more point to result `i`; null where there is
/// none or several.
static Operation *combinerOf(LinalgOp op, unsigned i) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), i, combiners) ||
      combiners.size() != 1)
    return nullptr;
  return combiners.front();
}

bool hasLaneSums(LinalgOp op, unsigned loop) {
  if (!isa<linalg::GenericOp>(op))
    return false;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (op.getMatchingIndexingMap(&init).isFunctionOfDim(loop))
      continue;
    Operation *combiner = combinerOf(op, i);
    if (!combiner || !arith::getNeutralElement(combiner))
      return false;
  }
  return true;
}

/// The op that makes `init` by repeating a smaller tensor; null where another
/// one makes it.
static linalg::GenericOp spreadOf(Value init) {
  auto op = init.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1)
    return nullptr;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool repeats = maps[0].isProjectedPermutation() && maps[1].isIdentity() &&
                 maps[0].getNumResults() < maps[1].getNumResults() &&
                 maps[0].getNumResults() > 0;
  return repeats && llvm::hasSingleElement(*op.getBody()) &&
                 op.getBody()->getTerminator()->getOperand(0) ==
                     op.getBody()->getArgument(0)
             ? op
             : nullptr;
}

namespace {

/// Emits the loop nest of one plan. Results that are complete only after the
/// outer loops travel through them as whole tensors; inside the inner
/// reduction loops only their tiles do.
class TileEmitter {
public:
  TileEmitter(RewriterBase &rewriter, const TilePlan &plan)
      : rewriter(rewriter), plan(plan), pieces(plan.pieces),
        first(plan.chain.front()), loc(first.getLoc()) {}

  void run();

private:
  /// A value that the loops build up: a result of a chain op that is read
  /// outside the chain.
  struct Output {
    unsigned member;
    unsigned result;
  };

  void emitLoops(unsigned level, SmallVectorImpl<Value> &carried);
  /// The first op's results for one tile: its own part of each, at these
  /// offsets, or the whole tensor that its part is written into.
  struct Tiles {
    SmallVector<Value> values;
    SmallVector<bool> isTile;
    SmallVector<SmallVector<OpFoldResult>> offsets, sizes;
  };
  void emitTile(SmallVectorImpl<Value> &carried);
  /// What the results start as.
  Tiles startTiles(ArrayRef<Value> carried);
  Value startOfTile(unsigned i, Value whole, ArrayRef<OpFoldResult> at,
                    ArrayRef<int64_t> shape);
  void computeTiles(Tiles &tiles);
  /// The whole tensor with the tile of result `i` that was computed in it.
  Value putBack(unsigned i, Value tile, Value whole);
  void store(Value tile, Value &whole, ArrayRef<OpFoldResult> at,
             ArrayRef<OpFoldResult> extent);
  /// The rest of the chain on these tiles.
  void emitConsumers(const Tiles &tiles, SmallVectorImpl<Value> &carried);
  void emitReductions(unsigned level, SmallVectorImpl<Value> &carried);
  SmallVector<Value> tileOfFirst(ArrayRef<Value> inits,
                                 ArrayRef<bool> initIsTile);
  LinalgOp laneTile(ArrayRef<Type> types, ArrayRef<Value> operands);
  Value laneStart(unsigned i, Value tile);
  Value spreadTile(linalg::GenericOp spread, ArrayRef<OpFoldResult> at,
                   ArrayRef<int64_t> shape);
  Value addLanes(unsigned i, Value lanes, Value start);
  bool keepsLanes(unsigned i) {
    return plan.lanes &&
           !first.getMatchingIndexingMap(first.getDpsInitOperand(i))
                .isFunctionOfDim(*plan.lanes);
  }
  Value tileOfConsumer(LinalgOp op, Value init,
                       const DenseMap<Value, Value> &tiles);
  void loop(unsigned level, SmallVectorImpl<Value> &carried,
            function_ref<void(SmallVectorImpl<Value> &)> body);
  std::pair<Value, Value> boundsIn(const Triangle &triangle,
                                   const Piece &piece);

  linalg::FillOp fillOf(LinalgOp op, unsigned result) const {
    return op.getDpsInits()[result].getDefiningOp<linalg::FillOp>();
  }
  /// The tensor that a whole result starts as.
  Value startOf(LinalgOp op, unsigned result) const {
    Value init = op.getDpsInits()[result];
    if (auto fill = fillOf(op, result);
        fill && (op != first || filledPerTile[result]))
      return fill.getOutputs()[0];
    if (op == first && spreadPerTile[result])
      return spreadOf(init).getOutputs()[0];
    return init;
  }
  SmallVector<OpFoldResult> attributes(ArrayRef<int64_t> values) const {
    return getAsIndexOpFoldResult(rewriter.getContext(), values);
  }
  bool readsLoop(AffineMap map, unsigned loop) const {
    return map.isFunctionOfDim(loop);
  }

  RewriterBase &rewriter;
  const TilePlan &plan;
  /// The plan's pieces, or those of its rest.
  ArrayRef<SmallVector<Piece>> pieces;
  LinalgOp first;
  Location loc;
  /// Loops below this level of the order are the inner reductions.
  unsigned boundary = 0;
  /// Of the first op's results: complete after the inner reductions, so that
  /// only their tile travels through them; started by a fill of the tile.
  SmallVector<bool> inRegisters, filledPerTile;
  /// Started by a smaller tensor (a bias) that is repeated along the tile.
  SmallVector<bool> spreadPerTile;
  SmallVector<Output> outputs;
  /// Of the first op: whether result r is an output, and which.
  SmallVector<int> outputOfFirst;
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> sizes;
  /// Of the loops in open pieces.
  DenseMap<unsigned, Value> openExtents;
};

void TileEmitter::run() {
  unsigned loops = first.getNumLoops();
  auto iterators = first.getIteratorTypesArray();
  boundary = loops;
  while (boundary > 0 &&
         iterators[plan.order[boundary - 1]] == utils::IteratorType::reduction)
    --boundary;
  bool reductionOutside = false;
  for (unsigned level = 0; level < boundary; ++level)
    reductionOutside |=
        iterators[plan.order[level]] == utils::IteratorType::reduction;

  for (OpOperand &init : first.getDpsInitsMutable()) {
    AffineMap map = first.getMatchingIndexingMap(&init);
    bool complete = true;
    for (unsigned level = boundary; level < loops; ++level)
      complete &= !readsLoop(map, plan.order[level]);
    inRegisters.push_back(complete && boundary < loops);
    // A reduction further out would fill the tile again on each of its steps.
    filledPerTile.push_back(init.get().getDefiningOp<linalg::FillOp>() &&
                            !reductionOutside &&
                            (inRegisters.back() || boundary == loops));
    spreadPerTile.push_back(spreadOf(init.get()) && !reductionOutside &&
                            inRegisters.back());
  }

  llvm::SmallDenseSet<Operation *> members;
  for (LinalgOp op : plan.chain)
    members.insert(op);
  outputOfFirst.assign(first->getNumResults(), -1);
  SmallVector<Value> carried;
  for (auto [member, op] : llvm::enumerate(plan.chain))
    for (OpResult result : op->getResults()) {
      bool last = op == plan.chain.back();
      if (!last && llvm::all_of(result.getUsers(), [&](Operation *user) {
            return members.contains(user);
          }))
        continue;
      if (member == 0)
        outputOfFirst[result.getResultNumber()] = outputs.size();
      outputs.push_back(
          {static_cast<unsigned>(member), result.getResultNumber()});
      carried.push_back(startOf(op, result.getResultNumber()));
    }

  offsets.assign(loops, rewriter.getIndexAttr(0));
  sizes.assign(loops, 0);
  rewriter.setInsertionPoint(plan.chain.back());
  if (first.hasDynamicShape())
    for (auto [dim, range] :
         llvm::enumerate(first.createLoopRanges(rewriter, loc)))
      if (plan.pieces[dim].front().isOpen())
        openExtents[dim] =
            getValueOrCreateConstantIndexOp(rewriter, loc, range.size);
  emitLoops(0, carried);
  if (!plan.rest.empty()) {
    pieces = plan.rest;
    emitLoops(0, carried);
  }
  for (auto [output, value] : llvm::zip_equal(outputs, carried)) {
    LinalgOp op = plan.chain[output.member];
    rewriter.replaceUsesWithIf(
        op->getResult(output.result), value,
        [&](OpOperand &use) { return !members.contains(use.getOwner()); });
  }
  for (LinalgOp op : llvm::reverse(plan.chain)) {
    SmallVector<linalg::FillOp> fills;
    for (Value init : op.getDpsInits())
      if (auto fill = init.getDefiningOp<linalg::FillOp>())
        fills.push_back(fill);
    rewriter.eraseOp(op);
    for (linalg::FillOp fill : fills)
      if (fill->use_empty())
        rewriter.eraseOp(fill);
  }
}

void TileEmitter::loop(unsigned level, SmallVectorImpl<Value> &carried,
                       function_ref<void(SmallVectorImpl<Value> &)> body) {
  unsigned dim = plan.order[level];
  for (const Piece &piece : pieces[dim]) {
    sizes[dim] = piece.size;
    if (piece.count == 1 || (plan.unroll && !piece.isOpen())) {
      for (int64_t i = 0; i < piece.count; ++i) {
        offsets[dim] = rewriter.getIndexAttr(piece.offset + i * piece.size);
        body(carried);
      }
      continue;
    }
    auto bound = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    Value from = bound(piece.offset),
          to = piece.isOpen() ? openExtents[dim]
                              : bound(piece.offset + piece.size * piece.count);
    if (plan.triangle && dim == plan.triangle->inner)
      std::tie(from, to) = boundsIn(*plan.triangle, piece);
    auto nest =
        scf::ForOp::create(rewriter, loc, from, to, bound(piece.size), carried);
    OpBuilder::InsertionGuard guard(rewriter);
    // Without carried values the loop comes with a terminator of its own.
    if (carried.empty())
      rewriter.setInsertionPoint(nest.getBody()->getTerminator());
    else
      rewriter.setInsertionPointToEnd(nest.getBody());
    offsets[dim] = nest.getInductionVar();
    SmallVector<Value> inner(nest.getRegionIterArgs());
    body(inner);
    if (!carried.empty())
      scf::YieldOp::create(rewriter, loc, inner);
    carried.assign(nest.getResults().begin(), nest.getResults().end());
  }
}

/// The only piece of the inner loop, as far as the triangle goes.
std::pair<Value, Value> TileEmitter::boundsIn(const Triangle &triangle,
                                              const Piece &piece) {
  auto applied = [&](AffineExpr expr) {
    return getValueOrCreateConstantIndexOp(
        rewriter, loc,
        affine::makeComposedFoldedAffineApply(rewriter, loc, expr,
                                              {offsets[triangle.rows]}));
  };
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  AffineExpr first = rewriter.getAffineDimExpr(0),
             end = first + sizes[triangle.rows];
  Value from = triangle.beginsWithRows
                   ? applied(first.floorDiv(piece.size) * piece.size)
                   : index(0);
  Value to = triangle.endsWithRows
                 ? applied(end.ceilDiv(piece.size) * piece.size)
                 : index(piece.size * piece.count);
  if (triangle.resultIsLower) {
    Value column = getValueOrCreateConstantIndexOp(rewriter, loc,
                                                   offsets[triangle.columns]);
    Value reached = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::slt, column, applied(end));
    to = arith::SelectOp::create(rewriter, loc, reached, to, from);
  }
  return {from, to};
}

void TileEmitter::emitLoops(unsigned level, SmallVectorImpl<Value> &carried) {
  if (level == boundary)
    return emitTile(carried);
  loop(level, carried,
       [&](SmallVectorImpl<Value> &inner) { emitLoops(level + 1, inner); });
}

static SmallVector<int64_t> shapeOfTile(AffineMap map,
                                        ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults())
    shape.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  return shape;
}

/// Clones the first op onto its operands' tiles. An init is either a whole
/// tensor, of which the tile is cut, or that tile already.
SmallVector<Value> TileEmitter::tileOfFirst(ArrayRef<Value> inits,
                                            ArrayRef<bool> initIsTile) {
  SmallVector<Value> operands = first->getOperands();
  unsigned firstInit = first.getDpsInitsMutable()[0].getOperandNumber();
  for (auto [i, init] : llvm::enumerate(inits))
    if (!initIsTile[i])
      operands[firstInit + i] = init;
  SmallVector<OpFoldResult> bounds;
  for (int64_t range : first.getStaticLoopRanges())
    bounds.push_back(rewriter.getIndexAttr(range));
  SmallVector<Value> tiles = linalg::makeTiledShapes(
      rewriter, loc, first, operands, offsets, attributes(sizes), bounds,
      /*omitPartialTileCheck=*/true);
  for (auto [i, init] : llvm::enumerate(inits))
    if (initIsTile[i]) {
      Value unused = tiles[firstInit + i];
      tiles[firstInit + i] = init;
      if (Operation *slice = unused.getDefiningOp();
          slice && slice->use_empty())
        rewriter.eraseOp(slice);
    }
  for (const Panels &panels : plan.panels) {
    AffineMap map =
        first.getMatchingIndexingMap(&first->getOpOperand(panels.operand));
    SmallVector<OpFoldResult> at;
    for (AffineExpr expr : map.getResults())
      at.push_back(offsets[cast<AffineDimExpr>(expr).getPosition()]);
    tiles[panels.operand] =
        panels.tile(rewriter, loc, at, shapeOfTile(map, sizes));
  }
  SmallVector<Type> types;
  for (unsigned i = 0; i < inits.size(); ++i)
    types.push_back(tiles[firstInit + i].getType());
  LinalgOp tile = plan.lanes
                      ? laneTile(types, tiles)
                      : cast<LinalgOp>(clone(rewriter, first, types, tiles));
  linalg::offsetIndices(rewriter, tile, offsets);
  return tile->getResults();
}

/// The first op on one tile with a sum for each lane: their loop is parallel
/// and the sums have one more dimension.
LinalgOp TileEmitter::laneTile(ArrayRef<Type> types, ArrayRef<Value> operands) {
  SmallVector<AffineMap> maps = first.getIndexingMapsArray();
  auto iterators = first.getIteratorTypesArray();
  iterators[*plan.lanes] = utils::IteratorType::parallel;
  unsigned inputs = first.getNumDpsInputs();
  for (unsigned i = 0; i < types.size(); ++i)
    if (keepsLanes(i)) {
      AffineMap &map = maps[inputs + i];
      map = map.insertResult(rewriter.getAffineDimExpr(*plan.lanes),
                             map.getNumResults());
    }
  auto tile = linalg::GenericOp::create(
      rewriter, loc, types, operands.take_front(inputs),
      operands.drop_front(inputs), maps, iterators);
  rewriter.cloneRegionBefore(first->getRegion(0), tile.getRegion(),
                             tile.getRegion().begin());
  return tile;
}

/// A neutral element for each lane of the tile of result i.
Value TileEmitter::laneStart(unsigned i, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(plan.pieces[*plan.lanes].front().size);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
  Value neutral = arith::ConstantOp::create(
      rewriter, loc, *arith::getNeutralElement(combinerOf(first, i)));
  return linalg::FillOp::create(rewriter, loc, neutral, empty).getResult(0);
}

/// The tile at `at` of what `spread` repeats.
Value TileEmitter::spreadTile(linalg::GenericOp spread,
                              ArrayRef<OpFoldResult> at,
                              ArrayRef<int64_t> shape) {
  auto source = cast<RankedTensorType>(spread.getInputs()[0].getType());
  SmallVector<OpFoldResult> offsets,
      strides(source.getRank(), rewriter.getIndexAttr(1));
  SmallVector<int64_t> extents;
  for (AffineExpr expr : spread.getIndexingMapsArray()[0].getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    offsets.push_back(at[dim]);
    extents.push_back(shape[dim]);
  }
  Value part = tensor::ExtractSliceOp::create(
      rewriter, loc, RankedTensorType::get(extents, source.getElementType()),
      spread.getInputs()[0], offsets, attributes(extents), strides);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, shape, source.getElementType());
  auto tile = linalg::GenericOp::create(rewriter, loc, empty.getType(), part,
                                        empty, spread.getIndexingMapsArray(),
                                        spread.getIteratorTypesArray());
  rewriter.cloneRegionBefore(spread.getRegion(), tile.getRegion(),
                             tile.getRegion().begin());
  return tile.getResult(0);
}

/// Combines the lanes of result i onto the tile that it started from.
Value TileEmitter::addLanes(unsigned i, Value lanes, Value start) {
  auto type = cast<RankedTensorType>(lanes.getType());
  unsigned rank = type.getRank();
  AffineMap all = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  Operation *combiner = combinerOf(first, i);
  auto sum = linalg::GenericOp::create(
      rewriter, loc, start.getType(), lanes, start,
      {all, all.dropResult(rank - 1)}, iterators,
      [&](OpBuilder &b, Location, ValueRange values) {
        IRMapping mapping;
        for (Value operand : combiner->getOperands())
          mapping.map(operand, operand == first.getRegionOutputArgs()[i]
                                   ? values[1]
                                   : values[0]);
        linalg::YieldOp::create(b, loc,
                                b.clone(*combiner, mapping)->getResults());
      });
  if (first->hasAttr(block::withinRowsAttr))
    sum->setAttr(block::withinRowsAttr, rewriter.getUnitAttr());
  return sum.getResult(0);
}

/// Runs the inner reductions. `carried` holds one value for each result of the
/// first op: its tile if it stays in registers, else the whole tensor.
void TileEmitter::emitReductions(unsigned level,
                                 SmallVectorImpl<Value> &carried) {
  if (level < first.getNumLoops()) {
    loop(level, carried, [&](SmallVectorImpl<Value> &inner) {
      emitReductions(level + 1, inner);
    });
    return;
  }
  SmallVector<Value> tiles = tileOfFirst(carried, inRegisters);
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    carried[i] = inRegisters[i] ? tile : putBack(i, tile, carried[i]);
  }
}

Value TileEmitter::startOfTile(unsigned i, Value whole,
                               ArrayRef<OpFoldResult> at,
                               ArrayRef<int64_t> shape) {
  Type element = getElementTypeOrSelf(whole.getType());
  if (filledPerTile[i]) {
    Value empty = tensor::EmptyOp::create(rewriter, loc, shape, element);
    return linalg::FillOp::create(rewriter, loc,
                                  fillOf(first, i).getInputs()[0], empty)
        .getResult(0);
  }
  if (spreadPerTile[i])
    return spreadTile(spreadOf(first.getDpsInits()[i]), at, shape);
  SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(rewriter, loc,
                                        RankedTensorType::get(shape, element),
                                        whole, at, attributes(shape), strides);
}

TileEmitter::Tiles TileEmitter::startTiles(ArrayRef<Value> carried) {
  Tiles tiles;
  for (OpOperand &init : first.getDpsInitsMutable()) {
    unsigned i = tiles.values.size();
    AffineMap map = first.getMatchingIndexingMap(&init);
    Value whole =
        outputOfFirst[i] >= 0 ? carried[outputOfFirst[i]] : startOf(first, i);
    tiles.offsets.emplace_back();
    tiles.sizes.emplace_back();
    bool isTile = inRegisters[i] || filledPerTile[i] || spreadPerTile[i] ||
                  outputOfFirst[i] < 0;
    tiles.isTile.push_back(isTile);
    if (!isTile) {
      tiles.values.push_back(whole);
      continue;
    }
    SmallVector<int64_t> shape = shapeOfTile(map, sizes);
    for (AffineExpr expr : map.getResults())
      tiles.offsets.back().push_back(
          offsets[cast<AffineDimExpr>(expr).getPosition()]);
    tiles.sizes.back() = attributes(shape);
    tiles.values.push_back(startOfTile(i, whole, tiles.offsets.back(), shape));
  }
  return tiles;
}

void TileEmitter::computeTiles(Tiles &tiles) {
  SmallVector<Value> &values = tiles.values;
  if (boundary < first.getNumLoops()) {
    SmallVector<Value> starts = values;
    for (unsigned i = 0; i < values.size(); ++i)
      if (keepsLanes(i))
        values[i] = laneStart(i, values[i]);
    emitReductions(boundary, values);
    for (unsigned i = 0; i < values.size(); ++i)
      if (keepsLanes(i))
        values[i] = addLanes(i, values[i], starts[i]);
    return;
  }
  SmallVector<Value> results = tileOfFirst(values, tiles.isTile);
  for (auto [i, tile] : llvm::enumerate(results))
    values[i] = tiles.isTile[i] ? tile : putBack(i, tile, values[i]);
}

Value TileEmitter::putBack(unsigned i, Value tile, Value whole) {
  auto slice = cast<LinalgOp>(tile.getDefiningOp())
                   .getDpsInits()[i]
                   .getDefiningOp<tensor::ExtractSliceOp>();
  // A tile of rank 0 is the tensor itself.
  if (!slice || slice.getSource() != whole)
    return tile;
  return tensor::InsertSliceOp::create(
      rewriter, loc, tile, whole, slice.getMixedOffsets(),
      slice.getMixedSizes(), slice.getMixedStrides());
}

void TileEmitter::store(Value tile, Value &whole, ArrayRef<OpFoldResult> at,
                        ArrayRef<OpFoldResult> extent) {
  SmallVector<OpFoldResult> strides(at.size(), rewriter.getIndexAttr(1));
  whole = tensor::InsertSliceOp::create(rewriter, loc, tile, whole, at, extent,
                                        strides);
}

void TileEmitter::emitConsumers(const Tiles &tiles,
                                SmallVectorImpl<Value> &carried) {
  DenseMap<Value, Value> known;
  for (auto [i, value] : llvm::enumerate(tiles.values))
    known[first->getResult(i)] = value;
  for (unsigned member = 1; member < plan.chain.size(); ++member) {
    LinalgOp op = plan.chain[member];
    ArrayRef<OpFoldResult> at = tiles.offsets[0], extent = tiles.sizes[0];
    Value *whole = nullptr;
    for (auto [out, output] : llvm::enumerate(outputs))
      if (output.member == member)
        whole = &carried[out];
    // What nobody outside reads is written nowhere: an empty tile will do.
    Value init;
    if (whole) {
      SmallVector<OpFoldResult> strides(at.size(), rewriter.getIndexAttr(1));
      init = tensor::ExtractSliceOp::create(rewriter, loc, *whole, at, extent,
                                            strides);
    } else {
      auto type = cast<RankedTensorType>(tiles.values[0].getType());
      init = tensor::EmptyOp::create(
          rewriter, loc, type.getShape(),
          getElementTypeOrSelf(op->getResult(0).getType()));
    }
    Value tile = tileOfConsumer(op, init, known);
    known[op->getResult(0)] = tile;
    if (whole)
      store(tile, *whole, at, extent);
  }
}

void TileEmitter::emitTile(SmallVectorImpl<Value> &carried) {
  Tiles tiles = startTiles(carried);
  computeTiles(tiles);
  // Tiles go back into their tensors; whole tensors have been updated inside.
  for (auto [i, value] : llvm::enumerate(tiles.values))
    if (int out = outputOfFirst[i]; out >= 0) {
      if (tiles.isTile[i])
        store(value, carried[out], tiles.offsets[i], tiles.sizes[i]);
      else
        carried[out] = value;
    }
  emitConsumers(tiles, carried);
}

/// Clones an elementwise member of the chain onto the first result's tile.
Value TileEmitter::tileOfConsumer(LinalgOp op, Value init,
                                  const DenseMap<Value, Value> &tiles) {
  AffineMap map = first.getMatchingIndexingMap(first.getDpsInitOperand(0));
  SmallVector<OpFoldResult> at, bounds;
  SmallVector<int64_t> shape = shapeOfTile(map, sizes);
  for (AffineExpr expr : map.getResults())
    at.push_back(offsets[cast<AffineDimExpr>(expr).getPosition()]);
  for (int64_t range : op.getStaticLoopRanges())
    bounds.push_back(rewriter.getIndexAttr(range));
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    auto known = tiles.find(value);
    if (op.isDpsInit(&operand)) {
      operands.push_back(init);
    } else if (known != tiles.end()) {
      operands.push_back(known->second);
    } else if (auto type = dyn_cast<RankedTensorType>(value.getType());
               type && type.getRank() > 0) {
      AffineMap operandMap = op.getMatchingIndexingMap(&operand);
      SmallVector<OpFoldResult> closed;
      for (int64_t size : shape)
        closed.push_back(rewriter.getIndexAttr(size - 1));
      Operation *slice = linalg::makeTiledShape(
          rewriter, loc, value, attributes(shape), operandMap, at, bounds,
          closed, /*omitPartialTileCheck=*/true);
      operands.push_back(slice->getResult(0));
    } else {
      operands.push_back(value);
    }
  }
  auto tile = cast<LinalgOp>(clone(rewriter, op, init.getType(), operands));
  linalg::offsetIndices(rewriter, tile, at);
  return tile->getResult(0);
}

} // namespace

void emitTiles(RewriterBase &rewriter, const TilePlan &plan) {
  TileEmitter(rewriter, plan).run();
}

void emitScalarLoops(RewriterBase &rewriter, LinalgOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Range> ranges = op.createLoopRanges(rewriter, loc);
  SmallVector<Value> carried(op.getDpsInits());
  SmallVector<Value> ivs;
  SmallVector<scf::ForOp> nest;
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (const Range &range : ranges) {
    Value bound = getValueOrCreateConstantIndexOp(rewriter, loc, range.size);
    auto loop = scf::ForOp::create(rewriter, loc, zero, bound, one, carried);
    if (!nest.empty())
      scf::YieldOp::create(rewriter, loc, loop.getResults());
    nest.push_back(loop);
    ivs.push_back(loop.getInductionVar());
    carried.assign(loop.getRegionIterArgs().begin(),
                   loop.getRegionIterArgs().end());
    rewriter.setInsertionPointToEnd(loop.getBody());
  }

  auto indices = [&](OpOperand &operand) {
    SmallVector<Value> result;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      result.push_back(getValueOrCreateConstantIndexOp(
          rewriter, loc,
          affine::makeComposedFoldedAffineApply(rewriter, loc, expr,
                                                getAsOpFoldResult(ivs))));
    return result;
  };
  IRMapping mapping;
  Block *body = op.getBlock();
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (isa<RankedTensorType>(value.getType())) {
      Value source = value;
      if (op.isDpsInit(&operand))
        source = carried[operand.getOperandNumber() -
                         op.getDpsInitsMutable()[0].getOperandNumber()];
      value =
          tensor::ExtractOp::create(rewriter, loc, source, indices(operand));
    }
    mapping.map(op.getMatchingBlockArgument(&operand), value);
  }
  for (Operation &inner : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), ivs[index.getDim()]);
    else
      rewriter.clone(inner, mapping);
  }
  SmallVector<Value> results;
  for (auto [i, yielded] :
       llvm::enumerate(body->getTerminator()->getOperands()))
    results.push_back(tensor::InsertOp::create(
        rewriter, loc, mapping.lookupOrDefault(yielded), carried[i],
        indices(*op.getDpsInitOperand(i))));
  if (nest.empty())
    return rewriter.replaceOp(op, results);
  scf::YieldOp::create(rewriter, loc, results);
  rewriter.replaceOp(op, nest.front().getResults());
}

} // namespace drawloom::cpu
