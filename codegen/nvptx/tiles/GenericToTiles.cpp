//===- GenericToTiles.cpp - all iterations of a linalg op at once ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/tiles/GenericToTiles.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::nvptx {
namespace {

class GenericToTiles {
public:
  GenericToTiles(linalg::GenericOp op, OpBuilder &builder, Homes &homes)
      : op(op), builder(builder), homes(homes), loc(op.getLoc()),
        shape(op.getStaticLoopRanges()),
        yield(cast<linalg::YieldOp>(op.getBody()->getTerminator())) {}

  FailureOr<SmallVector<Value>> run();

private:
  RankedTensorType overShape(Type element) {
    return RankedTensorType::get(shape, element);
  }
  /// What a value of the body is: a tile of all iterations, or a number that is
  /// the same in each.
  Value given(Value value) {
    return body.contains(value) ? body.lookup(value)
                                : homes.scalars.lookup(value);
  }
  Value asWhole(Location loc, Value value) {
    Value here = given(value);
    return isa<RankedTensorType>(here.getType())
               ? here
               : homes.splat(loc, here, shape);
  }

  LogicalResult bringOperands();
  LogicalResult bring(OpOperand &operand);
  FailureOr<Value> onIterations(Value tile, AffineMap map);
  LogicalResult findCombining();
  LogicalResult expandIndices();
  LogicalResult convertPoint(Operation *point);
  FailureOr<Value> write(unsigned output);
  LogicalResult refuseResult(unsigned output);
  FailureOr<Value> termOf(unsigned output, tile::Combiner &kind);
  FailureOr<Value> reduce(unsigned output);
  FailureOr<Value> inOrderOf(unsigned output, Value sum);

  linalg::GenericOp op;
  OpBuilder &builder;
  Homes &homes;
  Location loc;
  SmallVector<int64_t> shape;
  linalg::YieldOp yield;
  IRMapping body;
  /// The dimensions that each output lacks.
  SmallVector<SmallVector<int64_t>> reduced;
  /// What adds a term to a sum is no arithmetic on iterations.
  DenseSet<Operation *> combining;
};

/// The tile of an operand, along the dimensions of the iterations.
FailureOr<Value> GenericToTiles::onIterations(Value tile, AffineMap map) {
  SmallVector<int64_t> dims;
  SmallVector<int64_t> kept;
  auto type = cast<RankedTensorType>(tile.getType());
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      if (llvm::is_contained(dims, dim.getPosition()))
        return op.emitError("reads along a diagonal, which has no form on a "
                            "GPU yet"),
               failure();
      dims.push_back(dim.getPosition());
      kept.push_back(type.getDimSize(i));
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(result);
    if (!constant || constant.getValue() != 0 || type.getDimSize(i) != 1)
      return op.emitError("reads at indices that are not those of its loops, "
                          "which has no form on a GPU yet"),
             failure();
  }
  if (kept.size() != static_cast<size_t>(type.getRank()))
    tile = tile::ReshapeOp::create(
        builder, loc, RankedTensorType::get(kept, type.getElementType()), tile);
  if (map.isIdentity())
    return tile;
  return tile::BroadcastOp::create(builder, loc,
                                   overShape(type.getElementType()), tile, dims)
      .getResult();
}

LogicalResult GenericToTiles::bring(OpOperand &operand) {
  BlockArgument argument = op.getMatchingBlockArgument(&operand);
  if (argument.use_empty())
    return success();
  if (!isa<RankedTensorType>(operand.get().getType())) {
    body.map(argument, homes.scalars.lookup(operand.get()));
    return success();
  }
  FailureOr<Value> elements = homes.asTile(operand.get());
  if (failed(elements))
    return failure();
  FailureOr<Value> placed =
      onIterations(*elements, op.getMatchingIndexingMap(&operand));
  if (failed(placed))
    return failure();
  body.map(argument, *placed);
  return success();
}

LogicalResult GenericToTiles::bringOperands() {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    SmallVector<int64_t> gone;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (!map.isFunctionOfDim(dim))
        gone.push_back(dim);
    reduced.push_back(gone);
    if (gone.empty() && failed(bring(init)))
      return failure();
  }
  for (OpOperand *input : op.getDpsInputOperands())
    if (failed(bring(*input)))
      return failure();
  return success();
}

LogicalResult GenericToTiles::refuseResult(unsigned output) {
  return op.emitError("result ")
         << output
         << " is no sum, product, minimum or maximum of one "
            "term for each iteration, which has no form on a "
            "GPU yet";
}

LogicalResult GenericToTiles::findCombining() {
  for (auto [output, gone] : llvm::enumerate(reduced)) {
    if (gone.empty())
      continue;
    BlockArgument before = op.getRegionOutputArgs()[output];
    Operation *def = yield.getValues()[output].getDefiningOp();
    // The sum so far is nothing that an iteration may know.
    if (!def || !def->hasOneUse() ||
        llvm::any_of(before.getUsers(),
                     [&](Operation *user) { return user != def; }))
      return refuseResult(output);
    if (!before.use_empty())
      combining.insert(def);
  }
  return success();
}

/// What tiling makes of an index is arithmetic like any other.
LogicalResult GenericToTiles::expandIndices() {
  for (auto apply : llvm::make_early_inc_range(
           op.getBody()->getOps<affine::AffineApplyOp>())) {
    OpBuilder inside(apply);
    std::optional<SmallVector<Value, 8>> sum = affine::expandAffineMap(
        inside, apply.getLoc(), apply.getAffineMap(), apply.getMapOperands());
    if (!sum)
      return apply.emitOpError("has no form on a GPU yet");
    apply.getResult().replaceAllUsesWith(sum->front());
    apply.erase();
  }
  return success();
}

/// One op of the body, for all iterations at once.
LogicalResult GenericToTiles::convertPoint(Operation *point) {
  Location loc = point->getLoc();
  if (auto index = dyn_cast<linalg::IndexOp>(point)) {
    body.map(index.getResult(),
             tile::IotaOp::create(builder, loc,
                                  overShape(builder.getIndexType()),
                                  builder.getI64IntegerAttr(index.getDim())));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(point)) {
    FailureOr<Value> memory = homes.asMemory(extract.getTensor());
    if (failed(memory))
      return failure();
    SmallVector<Value> indices = llvm::map_to_vector(
        extract.getIndices(), [&](Value index) { return asWhole(loc, index); });
    body.map(extract.getResult(),
             tile::LookupOp::create(builder, loc, overShape(extract.getType()),
                                    *memory, indices));
    return success();
  }
  bool whole = llvm::any_of(point->getOperands(), [&](Value value) {
    return isa<RankedTensorType>(given(value).getType());
  });
  if (!whole && point->getNumRegions() == 0) {
    IRMapping mapping;
    for (Value operand : point->getOperands())
      mapping.map(operand, given(operand));
    Operation *copy = builder.clone(*point, mapping);
    body.map(point->getResults(), copy->getResults());
    return success();
  }
  if (!OpTrait::hasElementwiseMappableTraits(point) ||
      point->getNumRegions() != 0)
    return point->emitOpError("inside of a linalg op has no form on a GPU yet");
  OperationState state(loc, point->getName());
  for (Value operand : point->getOperands())
    state.addOperands(asWhole(loc, operand));
  for (Type type : point->getResultTypes())
    state.addTypes(overShape(type));
  state.addAttributes(llvm::to_vector(point->getDiscardableAttrs()));
  state.propertiesAttr = point->getPropertiesAsAttribute();
  Operation *copy = builder.create(state);
  body.map(point->getResults(), copy->getResults());
  return success();
}

std::optional<tile::Combiner> combinerOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<tile::Combiner>>(op)
      .Case<arith::AddFOp, arith::AddIOp>(
          [](auto) { return tile::Combiner::Add; })
      .Case<arith::MulFOp, arith::MulIOp>(
          [](auto) { return tile::Combiner::Mul; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [](auto) { return tile::Combiner::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [](auto) { return tile::Combiner::Min; })
      .Case<arith::MaxNumFOp>([](auto) { return tile::Combiner::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return tile::Combiner::MinNum; })
      .Case<arith::AndIOp>([](auto) { return tile::Combiner::And; })
      .Case<arith::OrIOp>([](auto) { return tile::Combiner::Or; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The term of each iteration, and how they are combined.
FailureOr<Value> GenericToTiles::termOf(unsigned output, tile::Combiner &kind) {
  BlockArgument before = op.getRegionOutputArgs()[output];
  Operation *combine = yield.getValues()[output].getDefiningOp();
  if (!combine || combine->getBlock() != op.getBody())
    return refuseResult(output);
  kind = tile::Combiner::Add;
  if (auto fma = dyn_cast<math::FmaOp>(combine); fma && fma.getC() == before)
    return arith::MulFOp::create(builder, loc, asWhole(loc, fma.getA()),
                                 asWhole(loc, fma.getB()))
        .getResult();
  if (auto less = dyn_cast<arith::SubFOp>(combine);
      less && less.getLhs() == before && less.getRhs() != before)
    return asWhole(loc, less.getRhs());
  std::optional<tile::Combiner> known = combinerOf(combine);
  if (!known || combine->getNumOperands() != 2)
    return refuseResult(output);
  kind = *known;
  if (combine->getOperand(0) == before && combine->getOperand(1) != before)
    return asWhole(loc, combine->getOperand(1));
  if (combine->getOperand(1) == before)
    return asWhole(loc, combine->getOperand(0));
  return refuseResult(output);
}

/// Brings a sum from the order of the loops to that of the output.
FailureOr<Value> GenericToTiles::inOrderOf(unsigned output, Value sum) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
  SmallVector<int64_t> order, extents;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      return refuseResult(output);
    int64_t position = dim.getPosition();
    order.push_back(position -
                    llvm::count_if(reduced[output], [&](int64_t gone) {
                      return gone < position;
                    }));
    extents.push_back(shape[position]);
  }
  if (llvm::is_sorted(order))
    return sum;
  SmallVector<int64_t> places(order.size());
  for (auto [i, at] : llvm::enumerate(order))
    places[at] = i;
  return tile::BroadcastOp::create(
             builder, loc,
             RankedTensorType::get(extents, getElementTypeOrSelf(sum)), sum,
             places)
      .getResult();
}

/// What the op adds to an output, over the dimensions that this lacks.
FailureOr<Value> GenericToTiles::reduce(unsigned output) {
  tile::Combiner kind;
  FailureOr<Value> term = termOf(output, kind);
  if (failed(term))
    return failure();
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(reduced[output], static_cast<int64_t>(dim)))
      kept.push_back(extent);
  FailureOr<Value> sum = inOrderOf(
      output,
      tile::ReduceOp::create(
          builder, loc,
          RankedTensorType::get(kept, getElementTypeOrSelf(*term)), kind,
          /*withinThread=*/false, *term, reduced[output], Value()));
  if (failed(sum))
    return failure();
  FailureOr<Value> start = homes.asTile(op.getDpsInits()[output]);
  if (failed(start))
    return failure();
  Operation *combine = yield.getValues()[output].getDefiningOp();
  if (isa<math::FmaOp>(combine))
    return arith::AddFOp::create(builder, loc, *start, *sum).getResult();
  OperationState state(loc, combine->getName());
  state.addOperands({*start, *sum});
  state.addTypes(sum->getType());
  state.propertiesAttr = combine->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

/// The elements of an output that has all dimensions of the iterations.
FailureOr<Value> GenericToTiles::write(unsigned output) {
  Value here = asWhole(loc, yield.getValues()[output]);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
  if (map.isIdentity())
    return here;
  if (!map.isPermutation())
    return op.emitError("writes at indices that are not those of its "
                        "loops, which has no form on a GPU yet"),
           failure();
  // Dimension d of the iterations is where the output has d.
  SmallVector<int64_t> places(shape.size()), extents;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    places[dim] = i;
    extents.push_back(shape[dim]);
  }
  return tile::BroadcastOp::create(
             builder, loc,
             RankedTensorType::get(extents, getElementTypeOrSelf(here)), here,
             places)
      .getResult();
}

FailureOr<SmallVector<Value>> GenericToTiles::run() {
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return op.emitError("computes on unknown extents, which has no form on a "
                        "GPU yet"),
           failure();
  if (failed(bringOperands()) || failed(findCombining()) ||
      failed(expandIndices()))
    return failure();
  for (Operation &point : op.getBody()->without_terminator())
    if (!combining.contains(&point) && failed(convertPoint(&point)))
      return failure();
  SmallVector<Value> results;
  for (auto [output, gone] : llvm::enumerate(reduced)) {
    FailureOr<Value> result = gone.empty() ? write(output) : reduce(output);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return results;
}

} // namespace

FailureOr<SmallVector<Value>> genericToTiles(linalg::GenericOp op,
                                             OpBuilder &builder, Homes &homes) {
  return GenericToTiles(op, builder, homes).run();
}

} // namespace drawloom::nvptx
