//===- RowMaterialize.cpp - from row ops to a block program ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Rows/RowMaterialize.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

namespace drawloom {
namespace {

/// Offsets, sizes and strides of a whole tensor but for one dimension.
struct Box {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  Box(OpBuilder &b, RankedTensorType type, unsigned dim, OpFoldResult offset,
      OpFoldResult size)
      : offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)) {
    for (int64_t extent : type.getShape())
      sizes.push_back(b.getIndexAttr(extent));
    offsets[dim] = offset;
    sizes[dim] = size;
  }
};

/// Builds the ops of one tile: every member of the region, on `count` rows from
/// `offset` on.
class TileBuilder {
public:
  TileBuilder(OpBuilder &b, RowAnalysis &rows, Value offset, int64_t count)
      : b(b), rows(rows), offset(offset), count(count) {}

  LogicalResult build(Operation *op) {
    return rows.rowLoop(op) ? buildTiled(op) : buildStructural(op);
  }

  /// The tile of a row value: built before, or cut out of a value from outside.
  Value tile(Value value) {
    Value &known = tiles[value];
    if (known)
      return known;
    RankedTensorType type = tileType(value);
    Box box(b, type, *rows.rowDim(value), offset, b.getIndexAttr(count));
    Value slice = tensor::ExtractSliceOp::create(
        b, value.getLoc(), type, value, box.offsets, box.sizes, box.strides);
    // The map may have grown in between.
    return tiles[value] = slice;
  }

  RankedTensorType tileType(Value value) {
    SmallVector<int64_t> shape(tensorType(value).getShape());
    shape[*rows.rowDim(value)] = count;
    return RankedTensorType::get(shape, tensorType(value).getElementType());
  }

  /// Running values of the partials.
  DenseMap<Value, Value> accumulators;

private:
  Value makeInit(Value like, RankedTensorType type) {
    Location loc = like.getLoc();
    if (auto constant = like.getDefiningOp<arith::ConstantOp>()) {
      auto splat = cast<SplatElementsAttr>(constant.getValue());
      return arith::ConstantOp::create(b, loc, splat.resizeSplat(type));
    }
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    if (auto fill = like.getDefiningOp<linalg::FillOp>())
      return linalg::FillOp::create(b, loc, fill.getInputs()[0], empty)
          .getResult(0);
    return empty;
  }

  LogicalResult buildTiled(Operation *op) {
    auto tiling = cast<TilingInterface>(op);
    SmallVector<OpFoldResult> offsets, sizes;
    for (Range range : tiling.getIterationDomain(b)) {
      offsets.push_back(range.offset);
      sizes.push_back(range.size);
    }
    unsigned loop = *rows.rowLoop(op);
    offsets[loop] = offset;
    sizes[loop] = b.getIndexAttr(count);
    FailureOr<TilingResult> result =
        tiling.getTiledImplementation(b, offsets, sizes);
    if (failed(result) || result->tiledOps.size() != 1)
      return op->emitOpError("cannot be tiled along rows");
    Operation *tiled = result->tiledOps.front();

    // The tiled op reads slices of whole tensors; read the tiles instead. They
    // are built ahead of the op.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(tiled);
    for (Operation *made : result->generatedSlices) {
      auto slice = cast<tensor::ExtractSliceOp>(made);
      Value source = slice.getSource(), replacement = source;
      if (rows.rowDim(source))
        replacement = tile(source);
      else if (isInit(source) && slice.getType() != source.getType())
        replacement = makeInit(source, slice.getType());
      if (replacement.getType() != slice.getType())
        return op->emitOpError("reads a tile of type ")
               << slice.getType() << " from a value of type "
               << source.getType() << ", which is not one tile of rows";
      slice.replaceAllUsesWith(replacement);
      slice.erase();
    }
    for (OpResult result : op->getResults()) {
      OpResult tileResult = tiled->getResult(result.getResultNumber());
      auto accumulator = accumulators.find(result);
      if (accumulator == accumulators.end()) {
        tiles[result] = tileResult;
        continue;
      }
      cast<DestinationStyleOpInterface>(tiled)
          .getTiedOpOperand(tileResult)
          ->set(accumulator->second);
      accumulator->second = tileResult;
    }
    return success();
  }

  LogicalResult buildStructural(Operation *op) {
    Value result = op->getResult(0);
    RankedTensorType type = tileType(result);
    // A part of what holds no data holds none, whatever its rank.
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
        slice && isInit(slice.getSource())) {
      tiles[result] = makeInit(slice.getSource(), type);
      return success();
    }
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (!tensorType(operand))
        continue;
      if (rows.rowDim(operand))
        mapping.map(operand, tile(operand));
      else if (isInit(operand))
        mapping.map(operand, makeInit(operand, initType(op, operand, type)));
    }
    auto ofTile = [&](Value operand) {
      return mapping.lookupOrDefault(operand);
    };
    Location loc = op->getLoc();
    auto withRows = [&](SmallVector<OpFoldResult> sizes, unsigned dim) {
      sizes[dim] = b.getIndexAttr(count);
      return sizes;
    };
    Value made;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      made = tensor::ExtractSliceOp::create(
          b, loc, type, ofTile(slice.getSource()), slice.getMixedOffsets(),
          withRows(slice.getMixedSizes(), *rows.rowDim(slice.getSource())),
          slice.getMixedStrides());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      made = tensor::InsertSliceOp::create(
          b, loc, ofTile(insert.getSource()), ofTile(insert.getDest()),
          insert.getMixedOffsets(),
          withRows(insert.getMixedSizes(), *rows.rowDim(result)),
          insert.getMixedStrides());
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      made =
          tensor::ExpandShapeOp::create(b, loc, type, ofTile(expand.getSrc()),
                                        expand.getReassociationIndices());
    } else if (isa<tensor::CastOp>(op) &&
               ofTile(op->getOperand(0)).getType() == type) {
      made = ofTile(op->getOperand(0));
    } else {
      Operation *clone = b.clone(*op, mapping);
      clone->getResult(0).setType(type);
      made = clone->getResult(0);
    }
    tiles[result] = made;
    return success();
  }

  /// The tile type of an operand that holds no data: like the result's, except
  /// that an inserted or concatenated piece keeps its own extents off the rows.
  RankedTensorType initType(Operation *op, Value operand,
                            RankedTensorType result) {
    auto own = tensorType(operand);
    SmallVector<int64_t> shape(own.getShape());
    unsigned dim = *rows.rowDim(op->getResult(0));
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
        insert && own.getRank() != result.getRank()) {
      // The source lacks dimensions of extent 1.
      llvm::SmallBitVector dropped = insert.getDroppedDims();
      if (!dropped.test(dim))
        shape[dim - llvm::count_if(llvm::seq(0u, dim), [&](unsigned i) {
                return dropped.test(i);
              })] = count;
      return RankedTensorType::get(shape, own.getElementType());
    }
    if (own.getRank() != result.getRank())
      return result;
    shape[dim] = count;
    return RankedTensorType::get(shape, own.getElementType());
  }

  OpBuilder &b;
  RowAnalysis &rows;
  Value offset;
  int64_t count;
  DenseMap<Value, Value> tiles;
};

/// Tiles of `rows` rows that a block walks through, from row `from` of its own
/// to row `to`.
struct TileRun {
  OpFoldResult from, to;
  int64_t rows;
};

/// One run of blocks over consecutive rows.
struct BlockRange {
  OpFoldResult firstRow, rows;
  /// Of one block, but for the last one, which has what is left.
  OpFoldResult blockRows, blocks;
  /// Most blocks; of memory that holds something of each.
  int64_t mostBlocks;
  bool isRest;
  /// Of a rest whose tiles are blocks: how many rows each of these has.
  int64_t ownTiles = 0;
};

/// Rows of a rest's tiles where each of these is a block, but for those of one.
constexpr int64_t fewRows = 8;

/// Rows of the tiles of a block of unknown size: each tile reads every weight
/// again, and each kind of tiles is compiled.
constexpr int64_t restRows[] = {16, 4, 1};

/// Adds `count` rows from `row` on to a part of the only sum of a region, which
/// begins at `offsets`.
FailureOr<Value> addToPart(OpBuilder &b, const RowPartial &partial,
                           unsigned rowLoop, Value row, int64_t count,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<int64_t> sizes, Value sum) {
  auto op = cast<linalg::LinalgOp>(partial.value.getOwner());
  auto tiling = cast<TilingInterface>(op.getOperation());
  SmallVector<OpFoldResult> from, extents;
  for (Range range : tiling.getIterationDomain(b)) {
    from.push_back(range.offset);
    extents.push_back(range.size);
  }
  from[rowLoop] = row;
  extents[rowLoop] = b.getIndexAttr(count);
  AffineMap map = op.getIndexingMapMatchingResult(partial.value);
  for (auto [i, offset, size] : llvm::enumerate(offsets, sizes)) {
    unsigned loop = map.getDimPosition(i);
    from[loop] = offset;
    extents[loop] = b.getIndexAttr(size);
  }
  FailureOr<TilingResult> result =
      tiling.getTiledImplementation(b, from, extents);
  if (failed(result) || result->tiledOps.size() != 1)
    return op->emitOpError("cannot be tiled along rows and sums");
  auto tiled = cast<DestinationStyleOpInterface>(result->tiledOps.front());
  OpOperand *init =
      tiled.getTiedOpOperand(tiled->getResult(partial.value.getResultNumber()));
  Operation *whole = init->get().getDefiningOp();
  init->set(sum);
  if (whole && llvm::is_contained(result->generatedSlices, whole))
    whole->erase();
  return tiled->getResult(partial.value.getResultNumber());
}

/// The tiles of a block of `size` rows. What is left of a tile is a tile where
/// it is known; else, or where bits would depend on it, tiles of a few rows,
/// which have the machine code of any number.
SmallVector<TileRun> tilesOf(const BlockRange &range, OpFoldResult size,
                             const RowSchedule &schedule, IndexMath math) {
  OpFoldResult zero = math.number(0);
  if (range.ownTiles)
    return {{zero, size, range.ownTiles}};
  if (!range.isRest)
    return {{zero, size, schedule.tileRows}};
  std::optional<int64_t> known = getConstantIntValue(size);
  if (known && !schedule.restInSteps)
    return {{zero, size, *known}};
  SmallVector<TileRun> tiles;
  OpFoldResult done = zero;
  for (int64_t rows : restRows) {
    if (rows >= schedule.tileRows)
      continue;
    OpFoldResult end = math.sub(size, math.rem(size, math.number(rows)));
    tiles.push_back({done, end, rows});
    done = end;
  }
  return tiles;
}

/// What a block of `size` rows from `first` on writes: its part of each result,
/// and its own partials, which start as nothing. `boxes` say where they are in
/// the whole.
SmallVector<Value> cutParts(OpBuilder &b, Location loc, scf::ForallOp forall,
                            const RowRegion &region, RowAnalysis &rows,
                            ArrayRef<int64_t> sumPart, OpFoldResult first,
                            OpFoldResult size, SmallVector<Box> &boxes) {
  SmallVector<Value> parts;
  for (auto [i, value] : llvm::enumerate(region.results)) {
    boxes.emplace_back(b, tensorType(value), *rows.rowDim(value), first, size);
    parts.push_back(tensor::ExtractSliceOp::create(
        b, loc, forall.getRegionIterArgs()[i], boxes.back().offsets,
        boxes.back().sizes, boxes.back().strides));
  }
  for (auto [i, partial] : llvm::enumerate(region.partials)) {
    Value destination = forall.getRegionIterArgs()[region.results.size() + i];
    boxes.emplace_back(b, tensorType(destination), 0,
                       OpFoldResult(forall.getInductionVar(0)),
                       b.getIndexAttr(1));
    RankedTensorType type = partial.type();
    for (auto [dim, extent] : llvm::enumerate(sumPart)) {
      boxes.back().offsets[dim + 1] =
          arith::MulIOp::create(
              b, loc, forall.getInductionVar(static_cast<int64_t>(dim) + 1),
              arith::ConstantIndexOp::create(b, loc, extent))
              .getResult();
      boxes.back().sizes[dim + 1] = b.getIndexAttr(extent);
    }
    if (!sumPart.empty())
      type = type.clone(sumPart);
    Value slice = tensor::ExtractSliceOp::create(
        b, loc, type, destination, boxes.back().offsets, boxes.back().sizes,
        boxes.back().strides);
    Value neutral = arith::ConstantOp::create(
        b, loc, *arith::getNeutralElement(partial.combiner));
    parts.push_back(
        linalg::FillOp::create(b, loc, neutral, slice).getResult(0));
  }
  return parts;
}

/// The first row of a block, and how many it has.
std::pair<Value, OpFoldResult> rowsOfBlock(OpBuilder &b, Location loc,
                                           Value block, const BlockRange &range,
                                           const RowSchedule &schedule) {
  IndexMath math(b, loc);
  Value first = getValueOrCreateConstantIndexOp(
      b, loc, math.mul(OpFoldResult(block), range.blockRows));
  if (!isZeroInteger(range.firstRow))
    first = getValueOrCreateConstantIndexOp(
        b, loc, math.add(OpFoldResult(first), range.firstRow));
  std::optional<int64_t> ofBlock = getConstantIntValue(range.blockRows),
                         ofAll = getConstantIntValue(range.rows);
  bool areEqual = ofBlock && ofAll ? *ofAll % *ofBlock == 0
                                   : range.isRest || schedule.mostBlocks == 0;
  if (areEqual)
    return {first, range.blockRows};
  // The last block has fewer tiles.
  return {first,
          math.min(range.blockRows,
                   math.sub(math.add(range.firstRow, range.rows), first))};
}

FailureOr<scf::ForallOp> buildForall(OpBuilder &b, Location loc,
                                     RowRegion &region, RowAnalysis &rows,
                                     const BlockRange &range,
                                     const RowSchedule &schedule,
                                     ValueRange destinations) {
  ArrayRef<int64_t> sumPart = schedule.sumPart;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<OpFoldResult> counts{range.blocks};
  if (!sumPart.empty())
    for (auto [extent, part] :
         llvm::zip(region.partials.front().type().getShape(), sumPart))
      counts.push_back(b.getIndexAttr(extent / part));
  auto forall =
      scf::ForallOp::create(b, loc, counts, destinations, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  IndexMath math(b, loc);
  Value zero = index(0);
  Value first;
  OpFoldResult size;
  std::tie(first, size) =
      rowsOfBlock(b, loc, forall.getInductionVar(0), range, schedule);
  unsigned numResults = region.results.size();
  SmallVector<Box> boxes;
  SmallVector<Value> carried =
      cutParts(b, loc, forall, region, rows, sumPart, first, size, boxes);

  auto buildTile =
      [&](Value at, int64_t tileRows,
          SmallVector<Value> values) -> FailureOr<SmallVector<Value>> {
    Value row = arith::AddIOp::create(b, loc, first, at);
    if (!sumPart.empty()) {
      FailureOr<Value> sum = addToPart(
          b, region.partials.front(), *rows.rowLoop(region.ops.front()), row,
          tileRows, ArrayRef(boxes.back().offsets).drop_front(), sumPart,
          values.front());
      if (failed(sum))
        return failure();
      return SmallVector<Value>{*sum};
    }
    TileBuilder builder(b, rows, row, tileRows);
    for (auto [i, partial] : llvm::enumerate(region.partials))
      builder.accumulators[partial.value] = values[numResults + i];
    for (Operation *op : region.ops)
      if (failed(builder.build(op)))
        return failure();
    for (auto [i, value] : llvm::enumerate(region.results)) {
      Box box(b, builder.tileType(value), *rows.rowDim(value), at,
              b.getIndexAttr(tileRows));
      values[i] =
          tensor::InsertSliceOp::create(b, loc, builder.tile(value), values[i],
                                        box.offsets, box.sizes, box.strides);
    }
    for (auto [i, partial] : llvm::enumerate(region.partials))
      values[numResults + i] = builder.accumulators[partial.value];
    return values;
  };

  SmallVector<Value> finished = carried;
  for (const TileRun &run : tilesOf(range, size, schedule, math)) {
    if (isEqualConstantIntOrValue(run.from, run.to))
      continue;
    if (isZeroInteger(run.from) && getConstantIntValue(run.to) == run.rows) {
      FailureOr<SmallVector<Value>> built = buildTile(zero, run.rows, finished);
      if (failed(built))
        return failure();
      finished = *built;
      continue;
    }
    auto bound = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(b, loc, value);
    };
    Value from = bound(run.from), to = bound(run.to), by = index(run.rows);
    auto loop = scf::ForOp::create(b, loc, from, to, by, finished);
    OpBuilder::InsertionGuard loopGuard(b);
    b.setInsertionPointToEnd(loop.getBody());
    FailureOr<SmallVector<Value>> built =
        buildTile(loop.getInductionVar(), run.rows,
                  SmallVector<Value>(loop.getRegionIterArgs()));
    if (failed(built))
      return failure();
    scf::YieldOp::create(b, loc, *built);
    finished.assign(loop.result_begin(), loop.result_end());
  }

  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [value, box, destination] :
       llvm::zip_equal(finished, boxes, forall.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(b, loc, value, destination,
                                          box.offsets, box.sizes, box.strides);
  return forall;
}

/// Combines the partials of all blocks of a range, in their order, onto a sum.
Value buildSecondStage(OpBuilder &b, Location loc, Value slots,
                       const RowPartial &partial, Value init) {
  MLIRContext *context = b.getContext();
  unsigned loops = partial.type().getRank() + 1;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(loops, context);
  AffineMap output =
      AffineMap::get(loops, 0, identity.getResults().drop_front(), context);
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  iterators[0] = utils::IteratorType::reduction;
  auto sum = linalg::GenericOp::create(
      b, loc, partial.type(), slots, init,
      ArrayRef<AffineMap>{identity, output}, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        Operation *combine = nested.clone(*partial.combiner);
        combine->setOperands({args[0], args[1]});
        linalg::YieldOp::create(nested, nestedLoc, combine->getResults());
      });
  sum->setAttr(inOrderAttr, b.getUnitAttr());
  return sum.getResult(0);
}

/// The first `count` parts of `array` along its first dimension.
Value leading(OpBuilder &b, Location loc, Value array, OpFoldResult count) {
  Box box(b, tensorType(array), 0, b.getIndexAttr(0), count);
  return tensor::ExtractSliceOp::create(b, loc, array, box.offsets, box.sizes,
                                        box.strides);
}

/// The rest of the rows, where each of its tiles is a block: those of a few
/// rows, then single ones.
SmallVector<BlockRange> restRanges(const RowSchedule &schedule,
                                   OpFoldResult extent, OpFoldResult mainRows,
                                   OpFoldResult rest, IndexMath math) {
  OpFoldResult few = math.number(fewRows);
  OpFoldResult single = math.rem(rest, few);
  OpFoldResult whole = math.sub(rest, single);
  SmallVector<BlockRange> ranges;
  if (schedule.tileRows > fewRows)
    ranges.push_back({mainRows, whole, few, math.floorDiv(whole, few),
                      (schedule.tileRows - 1) / fewRows, /*isRest=*/true,
                      fewRows});
  if (schedule.tileRows > 1)
    ranges.push_back({math.sub(extent, single), single, math.number(1), single,
                      std::min(schedule.tileRows, fewRows) - 1,
                      /*isRest=*/true, 1});
  return ranges;
}

/// Puts results, and the sums of all ranges' partials, in the place of what a
/// region has made, and erases it.
void replaceRegion(OpBuilder &b, Location loc, RowRegion &region,
                   RowAnalysis &rows, ArrayRef<Value> results,
                   ArrayRef<SmallVector<Value>> arrays, OpFoldResult extent) {
  auto isOutside = [&](OpOperand &use) {
    return !llvm::is_contained(region.ops, use.getOwner());
  };
  for (auto [i, result] : llvm::enumerate(region.results)) {
    rows.addRowDim(results[i], *rows.rowDim(result));
    Value(result).replaceUsesWithIf(results[i], isOutside);
  }
  for (auto [i, partial] : llvm::enumerate(region.partials)) {
    Value sum = partial.init;
    for (ArrayRef<Value> array : arrays)
      sum = buildSecondStage(b, loc, array[i], partial, sum);
    partial.value.replaceUsesWithIf(sum, isOutside);
  }
  // What asks how many rows there are, asks whoever knows.
  for (Operation *op : region.ops)
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<tensor::DimOp>(user)) {
        user->getResult(0).replaceAllUsesWith(
            getValueOrCreateConstantIndexOp(b, loc, extent));
        user->erase();
      }
  for (Operation *op : llvm::reverse(region.ops)) {
    rows.forget(op);
    op->erase();
  }
}

} // namespace

LogicalResult materializeRows(RowRegion &region, RowAnalysis &rows,
                              const RowSchedule &schedule,
                              OpFoldResult extent) {
  OpBuilder b(region.ops.front());
  SmallVector<Location> locations;
  for (Operation *op : region.ops)
    locations.push_back(op->getLoc());
  Location loc = FusedLoc::get(b.getContext(), locations);

  SmallVector<Value> results;
  for (Value result : region.results) {
    RankedTensorType type = tensorType(result);
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(b.getContext(), type.getShape());
    sizes[*rows.rowDim(result)] = extent;
    results.push_back(
        tensor::EmptyOp::create(b, loc, sizes, type.getElementType()));
  }
  // Of each range an array of partials of its own: nobody has to join them.
  SmallVector<SmallVector<Value>> arrays;
  auto build = [&](const BlockRange &range) -> FailureOr<scf::ForallOp> {
    SmallVector<Value> values(results);
    for (const RowPartial &partial : region.partials) {
      SmallVector<int64_t> shape{range.mostBlocks};
      llvm::append_range(shape, partial.type().getShape());
      values.push_back(tensor::EmptyOp::create(
          b, loc, shape, partial.type().getElementType()));
    }
    FailureOr<scf::ForallOp> forall =
        buildForall(b, loc, region, rows, range, schedule, values);
    if (failed(forall))
      return failure();
    ResultRange made = (*forall)->getResults();
    results.assign(made.begin(), made.begin() + results.size());
    SmallVector<Value> &slots =
        arrays.emplace_back(made.begin() + region.results.size(), made.end());
    if (!getConstantIntValue(range.blocks))
      for (Value &array : slots)
        array = leading(b, loc, array, range.blocks);
    return forall;
  };

  IndexMath math(b, loc);
  RowBlocks blocks = blocksOf(schedule, extent, math);
  OpFoldResult mainRows = math.sub(extent, blocks.rest);
  OpFoldResult blockRows =
      math.mul(blocks.tilesPerBlock, math.number(schedule.tileRows));
  if (!isZeroInteger(blocks.count)) {
    int64_t mostBlocks =
        getConstantIntValue(blocks.count).value_or(schedule.mostBlocks);
    FailureOr<scf::ForallOp> forall =
        build({math.number(0), mainRows, blockRows, blocks.count, mostBlocks,
               /*isRest=*/false});
    if (failed(forall))
      return failure();
    if (schedule.isNoted)
      (*forall)->setAttr(scheduleAttr,
                         b.getDictionaryAttr(b.getNamedAttr(
                             "rows", b.getI64IntegerAttr(schedule.tileRows))));
  }
  if (schedule.restInBlocks) {
    for (const BlockRange &range :
         restRanges(schedule, extent, mainRows, blocks.rest, math)) {
      FailureOr<scf::ForallOp> forall = build(range);
      if (failed(forall))
        return failure();
      (*forall)->setAttr(besideAttr, b.getUnitAttr());
    }
  } else if (!isZeroInteger(blocks.rest) &&
             failed(build({mainRows, blocks.rest, blocks.rest,
                           math.min(blocks.rest, math.number(1)),
                           /*mostBlocks=*/1, /*isRest=*/true}))) {
    return failure();
  }

  replaceRegion(b, loc, region, rows, results, arrays, extent);
  return success();
}

} // namespace drawloom
