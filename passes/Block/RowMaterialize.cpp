//===- RowMaterialize.cpp - from row ops to a block program ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/RowMaterialize.h"
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
    Operation *clone = b.clone(*op, mapping);
    clone->getResult(0).setType(type);
    auto setExtent = [&](StringRef name, unsigned dim) {
      SmallVector<int64_t> sizes(
          cast<DenseI64ArrayAttr>(clone->getAttr(name)).asArrayRef());
      sizes[dim] = count;
      clone->setAttr(name, b.getDenseI64ArrayAttr(sizes));
    };
    if (isa<tensor::ExtractSliceOp>(op))
      setExtent("static_sizes", *rows.rowDim(op->getOperand(0)));
    else if (isa<tensor::InsertSliceOp>(op))
      setExtent("static_sizes", *rows.rowDim(result));
    else if (isa<tensor::ExpandShapeOp>(op))
      setExtent("static_output_shape", *rows.rowDim(result));
    tiles[result] = clone->getResult(0);
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

/// One run of blocks over consecutive rows.
struct BlockRange {
  int64_t firstRow, rows, tileRows, tilesPerBlock, blocks;
};

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

FailureOr<scf::ForallOp> buildForall(OpBuilder &b, Location loc,
                                     RowRegion &region, RowAnalysis &rows,
                                     const BlockRange &range,
                                     ArrayRef<int64_t> sumPart,
                                     ValueRange destinations) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<OpFoldResult> counts{b.getIndexAttr(range.blocks)};
  if (!sumPart.empty())
    for (auto [extent, part] :
         llvm::zip(region.partials.front().type().getShape(), sumPart))
      counts.push_back(b.getIndexAttr(extent / part));
  auto forall =
      scf::ForallOp::create(b, loc, counts, destinations, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value block = forall.getInductionVar(0), zero = index(0);
  int64_t blockRows = range.tileRows * range.tilesPerBlock;
  Value first = arith::MulIOp::create(b, loc, block, index(blockRows));
  if (range.firstRow)
    first = arith::AddIOp::create(b, loc, first, index(range.firstRow));
  OpFoldResult size = b.getIndexAttr(blockRows);
  if (range.rows % blockRows) {
    // The last block has fewer tiles.
    Value left = arith::SubIOp::create(
        b, loc, index(range.firstRow + range.rows), first);
    size = arith::MinSIOp::create(b, loc, index(blockRows), left).getResult();
  }
  unsigned numResults = region.results.size();
  SmallVector<Value> carried;
  SmallVector<Box> boxes;
  for (auto [i, value] : llvm::enumerate(region.results)) {
    boxes.emplace_back(b, tensorType(value), *rows.rowDim(value), first, size);
    carried.push_back(tensor::ExtractSliceOp::create(
        b, loc, forall.getRegionIterArgs()[i], boxes.back().offsets,
        boxes.back().sizes, boxes.back().strides));
  }
  for (auto [i, partial] : llvm::enumerate(region.partials)) {
    Value destination = forall.getRegionIterArgs()[numResults + i];
    boxes.emplace_back(b, tensorType(destination), 0, block, b.getIndexAttr(1));
    RankedTensorType type = partial.type();
    for (auto [dim, extent] : llvm::enumerate(sumPart)) {
      boxes.back().offsets[dim + 1] =
          arith::MulIOp::create(
              b, loc, forall.getInductionVar(static_cast<int64_t>(dim) + 1),
              index(extent))
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
    carried.push_back(
        linalg::FillOp::create(b, loc, neutral, slice).getResult(0));
  }

  auto buildTile =
      [&](Value at,
          SmallVector<Value> values) -> FailureOr<SmallVector<Value>> {
    Value row = arith::AddIOp::create(b, loc, first, at);
    if (!sumPart.empty()) {
      FailureOr<Value> sum = addToPart(
          b, region.partials.front(), *rows.rowLoop(region.ops.front()), row,
          range.tileRows, ArrayRef(boxes.back().offsets).drop_front(), sumPart,
          values.front());
      if (failed(sum))
        return failure();
      return SmallVector<Value>{*sum};
    }
    TileBuilder builder(b, rows, row, range.tileRows);
    for (auto [i, partial] : llvm::enumerate(region.partials))
      builder.accumulators[partial.value] = values[numResults + i];
    for (Operation *op : region.ops)
      if (failed(builder.build(op)))
        return failure();
    for (auto [i, value] : llvm::enumerate(region.results)) {
      Box box(b, builder.tileType(value), *rows.rowDim(value), at,
              b.getIndexAttr(range.tileRows));
      values[i] =
          tensor::InsertSliceOp::create(b, loc, builder.tile(value), values[i],
                                        box.offsets, box.sizes, box.strides);
    }
    for (auto [i, partial] : llvm::enumerate(region.partials))
      values[numResults + i] = builder.accumulators[partial.value];
    return values;
  };

  SmallVector<Value> finished;
  if (range.tilesPerBlock == 1) {
    FailureOr<SmallVector<Value>> built = buildTile(zero, carried);
    if (failed(built))
      return failure();
    finished = *built;
  } else {
    Value end = getValueOrCreateConstantIndexOp(b, loc, size);
    auto loop =
        scf::ForOp::create(b, loc, zero, end, index(range.tileRows), carried);
    OpBuilder::InsertionGuard loopGuard(b);
    b.setInsertionPointToEnd(loop.getBody());
    FailureOr<SmallVector<Value>> built = buildTile(
        loop.getInductionVar(), SmallVector<Value>(loop.getRegionIterArgs()));
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
  return linalg::GenericOp::create(
             b, loc, partial.type(), slots, init,
             ArrayRef<AffineMap>{identity, output}, iterators,
             [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
               Operation *combine = nested.clone(*partial.combiner);
               combine->setOperands({args[0], args[1]});
               linalg::YieldOp::create(nested, nestedLoc,
                                       combine->getResults());
             })
      .getResult(0);
}

} // namespace

LogicalResult materializeRows(RowRegion &region, RowAnalysis &rows,
                              const RowSchedule &schedule) {
  OpBuilder b(region.ops.front());
  SmallVector<Location> locations;
  for (Operation *op : region.ops)
    locations.push_back(op->getLoc());
  Location loc = FusedLoc::get(b.getContext(), locations);

  SmallVector<Value> results;
  for (Value result : region.results)
    results.push_back(
        tensor::EmptyOp::create(b, loc, tensorType(result).getShape(),
                                tensorType(result).getElementType()));
  // Of each range an array of partials of its own: nobody has to join them.
  SmallVector<SmallVector<Value>> arrays;
  auto build = [&](const BlockRange &range) -> FailureOr<scf::ForallOp> {
    SmallVector<Value> values(results);
    for (const RowPartial &partial : region.partials) {
      SmallVector<int64_t> shape{range.blocks};
      llvm::append_range(shape, partial.type().getShape());
      values.push_back(tensor::EmptyOp::create(
          b, loc, shape, partial.type().getElementType()));
    }
    FailureOr<scf::ForallOp> forall =
        buildForall(b, loc, region, rows, range, schedule.sumPart, values);
    if (failed(forall))
      return failure();
    ResultRange made = (*forall)->getResults();
    results.assign(made.begin(), made.begin() + results.size());
    arrays.emplace_back(made.begin() + results.size(), made.end());
    return forall;
  };

  int64_t mainRows = rows.rows() - schedule.rest;
  if (schedule.blocks) {
    FailureOr<scf::ForallOp> forall =
        build({0, mainRows, schedule.tileRows, schedule.tilesPerBlock,
               schedule.blocks});
    if (failed(forall))
      return failure();
    if (schedule.isNoted)
      (*forall)->setAttr("drawloom.schedule",
                         b.getDictionaryAttr(b.getNamedAttr(
                             "rows", b.getI64IntegerAttr(schedule.tileRows))));
  }
  if (schedule.rest &&
      failed(build({mainRows, schedule.rest, schedule.rest, 1, 1})))
    return failure();

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
  for (Operation *op : llvm::reverse(region.ops)) {
    rows.forget(op);
    op->erase();
  }
  return success();
}

} // namespace drawloom
