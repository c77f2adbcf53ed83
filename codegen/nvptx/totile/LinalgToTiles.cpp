//===- LinalgToTiles.cpp - linalg ops as arithmetic on whole tiles --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/totile/BlockToTile.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Block/Products.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::nvptx {

LogicalResult BlockToTile::convertFill(linalg::FillOp op) {
  auto type = cast<RankedTensorType>(op.getOutputs()[0].getType());
  if (!type.hasStaticShape())
    return op.emitError("fills a tensor of unknown extents");
  Value filled =
      splat(op.getLoc(), scalars.lookup(op.getInputs()[0]), type.getShape());
  if (const Home &where = home(op.getOutputs()[0]);
      where.kind == Home::Memory && where.writable && isFilledInPlace(op)) {
    Value memory = where.value;
    tile::StoreOp::create(builder, op.getLoc(), filled, memory);
    setMemory(op.getResult(0), memory, /*writable=*/true);
    return success();
  }
  setTile(op.getResult(0), filled);
  return success();
}

bool BlockToTile::isFilledInPlace(linalg::FillOp op) {
  // What is beyond that leaves no room for anything else on some device.
  constexpr int64_t mostSharedBytes = 96 * 1024;
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  return type.hasStaticShape() && type.getElementType().isIntOrFloat() &&
         type.getNumElements() * type.getElementTypeBitWidth() / 8 >
             mostSharedBytes &&
         op.getOutputs()[0].hasOneUse() && isDestination(op.getResult(0));
}

/// Whether an operand of a contraction is (rows, columns), or else the other
/// way round.
static std::optional<bool> isInOrder(AffineMap map, unsigned rows,
                                     unsigned columns) {
  if (map.getNumResults() != 2)
    return std::nullopt;
  auto first = dyn_cast<AffineDimExpr>(map.getResult(0));
  auto second = dyn_cast<AffineDimExpr>(map.getResult(1));
  if (!first || !second)
    return std::nullopt;
  if (first.getPosition() == rows && second.getPosition() == columns)
    return true;
  if (first.getPosition() == columns && second.getPosition() == rows)
    return false;
  return std::nullopt;
}

bool isBatchOfDots(linalg::LinalgOp op,
                   const linalg::ContractionDimensions &dims) {
  if (dims.batch.size() != 1 || dims.m.size() != 1 || dims.n.size() != 1 ||
      dims.k.size() != 1)
    return false;
  unsigned batch = dims.batch[0], m = dims.m[0], n = dims.n[0], k = dims.k[0];
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto isIn = [&](AffineMap map, ArrayRef<unsigned> order) {
    return map == AffineMap::getMultiDimMapWithTargets(map.getNumDims(), order,
                                                       op.getContext());
  };
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Type element = getElementTypeOrSelf(op.getDpsInputs()[0]);
  return isIn(maps[0], {batch, m, k}) && isIn(maps[2], {batch, m, n}) &&
         (isIn(maps[1], {batch, n, k}) || isIn(maps[1], {batch, k, n})) &&
         (element.isBF16() || element.isF16()) &&
         getElementTypeOrSelf(op.getDpsInputs()[1]) == element &&
         getElementTypeOrSelf(op.getDpsInits()[0]).isF32() &&
         llvm::none_of(extents, ShapedType::isDynamic) &&
         extents[m] % 16 == 0 && llvm::isPowerOf2_64(extents[m]) &&
         llvm::isPowerOf2_64(extents[batch]) && extents[n] % 8 == 0 &&
         extents[k] % 16 == 0;
}

LogicalResult
BlockToTile::convertBatch(linalg::LinalgOp op,
                          const linalg::ContractionDimensions &dims) {
  unsigned batch = dims.batch[0], m = dims.m[0], n = dims.n[0], k = dims.k[0];
  bool transposed = op.getIndexingMapsArray()[1] ==
                    AffineMap::getMultiDimMapWithTargets(
                        op.getNumLoops(), {batch, n, k}, op.getContext());
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Location loc = op.getLoc();
  auto below = [&](Value tensor) -> FailureOr<Value> {
    FailureOr<Value> tile = asTile(tensor);
    if (failed(tile))
      return failure();
    auto type = cast<RankedTensorType>(tile->getType());
    return tile::ReshapeOp::create(
               builder, loc,
               RankedTensorType::get({type.getDimSize(0) * type.getDimSize(1),
                                      type.getDimSize(2)},
                                     type.getElementType()),
               *tile)
        .getResult();
  };
  FailureOr<Value> lhs = below(op.getDpsInputs()[0]);
  FailureOr<Value> rhs = below(op.getDpsInputs()[1]);
  // One number everywhere has any shape.
  FailureOr<Value> sums = asTile(op.getDpsInits()[0]);
  if (failed(lhs) || failed(rhs) || failed(sums))
    return failure();
  Type whole = sums->getType();
  if (auto splatted = sums->getDefiningOp<tile::SplatOp>())
    sums = splat(loc, splatted.getValue(),
                 {extents[batch] * extents[m], extents[n]});
  else
    sums = below(op.getDpsInits()[0]);
  if (failed(sums))
    return failure();
  Value product = tile::DotOp::create(
      builder, loc, sums->getType(), *lhs, *rhs, *sums, /*transposeA=*/false,
      transposed, /*neighbours=*/IntegerAttr(), /*tf32=*/false,
      builder.getI64IntegerAttr(extents[batch]));
  setTile(op->getResult(0),
          tile::ReshapeOp::create(builder, loc, whole, product));
  return success();
}

std::optional<LogicalResult> BlockToTile::convertDot(linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (succeeded(dims) && isBatchOfDots(op, *dims))
    return convertBatch(op, *dims);
  if (failed(dims) || !dims->batch.empty() || dims->m.size() != 1 ||
      dims->n.size() != 1 || dims->k.size() != 1)
    return std::nullopt;
  unsigned m = dims->m[0], n = dims->n[0], k = dims->k[0];
  Value left = op.getDpsInputs()[0], right = op.getDpsInputs()[1];
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::optional<bool> result = isInOrder(maps[2], m, n);
  if (!result)
    return std::nullopt;
  // C^T = B^T A^T.
  if (!*result)
    std::swap(m, n);
  if (!isInOrder(maps[0], m, k)) {
    std::swap(left, right);
    std::swap(maps[0], maps[1]);
  }
  std::optional<bool> a = isInOrder(maps[0], m, k);
  std::optional<bool> b = isInOrder(maps[1], k, n);
  auto elements = [](Value value) { return getElementTypeOrSelf(value); };
  Type sum = elements(op.getDpsInits()[0]);
  if (!a || !b || !isa<FloatType>(sum) || !isa<FloatType>(elements(left)) ||
      !isa<FloatType>(elements(right)))
    return std::nullopt;
  auto operand = [&](Value value) -> FailureOr<Value> {
    // A buffer in shared memory is read where it is.
    Home &where = home(value);
    if (where.kind == Home::Memory && !where.writable &&
        tile::isShared(where.value.getType()) &&
        cast<MemRefType>(where.value.getType()).hasStaticShape())
      return where.value;
    return asTile(value);
  };
  FailureOr<Value> lhs = operand(left), rhs = operand(right);
  FailureOr<Value> accumulator = asTile(op.getDpsInits()[0]);
  if (failed(lhs) || failed(rhs) || failed(accumulator))
    return failure();
  Location loc = op.getLoc();
  // Of two types the wider one: products with gradients in f32 are f32
  // products.
  Type wide = elements(*lhs).getIntOrFloatBitWidth() <
                      elements(*rhs).getIntOrFloatBitWidth()
                  ? elements(*rhs)
                  : elements(*lhs);
  if (elements(*lhs) != elements(*rhs) && wide.getIntOrFloatBitWidth() < 32)
    wide = builder.getF32Type();
  for (FailureOr<Value> *side : {&lhs, &rhs}) {
    if (elements(**side) == wide)
      continue;
    auto type = cast<ShapedType>((*side)->getType());
    if (isa<MemRefType>(type))
      *side = loadTile(
          loc, **side,
          RankedTensorType::get(type.getShape(), type.getElementType()));
    *side = arith::ExtFOp::create(builder, loc,
                                  RankedTensorType::get(type.getShape(), wide),
                                  **side)
                .getResult();
  }
  auto narrow = cast<RankedTensorType>(accumulator->getType());
  bool widen = sum.getIntOrFloatBitWidth() < 32;
  bool allowsTf32 = program->getParentOfType<ModuleOp>()->hasAttr(tf32Attr);
  if (widen)
    *accumulator = arith::ExtFOp::create(
        builder, loc, narrow.clone(builder.getF32Type()), *accumulator);
  Value product =
      tile::DotOp::create(builder, loc, accumulator->getType(), *lhs, *rhs,
                          *accumulator, /*transposeA=*/!*a,
                          /*transposeB=*/!*b, /*neighbours=*/IntegerAttr(),
                          /*tf32=*/wide.isF32() && sum.isF32() && allowsTf32,
                          /*batch=*/IntegerAttr());
  if (widen)
    product = arith::TruncFOp::create(builder, loc, narrow, product);
  setTile(op->getResult(0), product);
  return success();
}

/// The tile of an operand, along the dimensions of the iterations.
FailureOr<Value> BlockToTile::onIterations(linalg::GenericOp op, Value tile,
                                           AffineMap map,
                                           ArrayRef<int64_t> shape) {
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
        builder, op.getLoc(),
        RankedTensorType::get(kept, type.getElementType()), tile);
  if (map.isIdentity())
    return tile;
  return tile::BroadcastOp::create(
             builder, op.getLoc(),
             RankedTensorType::get(shape, type.getElementType()), tile, dims)
      .getResult();
}

/// One op of the body, for all iterations at once.
LogicalResult BlockToTile::convertPoint(Operation *op, IRMapping &body,
                                        ArrayRef<int64_t> shape) {
  Location loc = op->getLoc();
  auto overShape = [&](Type element) {
    return RankedTensorType::get(shape, element);
  };
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    body.map(index.getResult(),
             tile::IotaOp::create(builder, loc,
                                  overShape(builder.getIndexType()),
                                  builder.getI64IntegerAttr(index.getDim())));
    return success();
  }
  auto given = [&](Value value) {
    return body.contains(value) ? body.lookup(value) : scalars.lookup(value);
  };
  auto asWhole = [&](Value value) {
    Value here = given(value);
    return isa<RankedTensorType>(here.getType()) ? here
                                                 : splat(loc, here, shape);
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    FailureOr<Value> memory = asMemory(extract.getTensor());
    if (failed(memory))
      return failure();
    SmallVector<Value> indices =
        llvm::map_to_vector(extract.getIndices(), asWhole);
    body.map(extract.getResult(),
             tile::LookupOp::create(builder, loc, overShape(extract.getType()),
                                    *memory, indices));
    return success();
  }
  bool whole = llvm::any_of(op->getOperands(), [&](Value value) {
    return isa<RankedTensorType>(given(value).getType());
  });
  if (!whole && op->getNumRegions() == 0) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, given(operand));
    Operation *copy = builder.clone(*op, mapping);
    body.map(op->getResults(), copy->getResults());
    return success();
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
    return op->emitOpError("inside of a linalg op has no form on a GPU yet");
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(asWhole(operand));
  for (Type type : op->getResultTypes())
    state.addTypes(overShape(type));
  state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *copy = builder.create(state);
  body.map(op->getResults(), copy->getResults());
  return success();
}

static std::optional<tile::Combiner> combinerOf(Operation *op) {
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

static LogicalResult refuseResult(linalg::GenericOp op, unsigned output) {
  return op.emitError("result ")
         << output
         << " is no sum, product, minimum or maximum of one "
            "term for each iteration, which has no form on a "
            "GPU yet";
}

/// What an op adds to an output, over the dimensions that this lacks.
FailureOr<Value> BlockToTile::reduceInto(linalg::GenericOp op, unsigned output,
                                         ArrayRef<int64_t> reduced,
                                         IRMapping &body,
                                         ArrayRef<int64_t> shape) {
  Location loc = op.getLoc();
  BlockArgument before = op.getRegionOutputArgs()[output];
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Operation *combine = yield.getValues()[output].getDefiningOp();
  auto refuse = [&] { return refuseResult(op, output); };
  if (!combine || combine->getBlock() != op.getBody())
    return refuse();
  auto asWhole = [&](Value value) {
    Value here =
        body.contains(value) ? body.lookup(value) : scalars.lookup(value);
    return isa<RankedTensorType>(here.getType()) ? here
                                                 : splat(loc, here, shape);
  };
  Value term;
  tile::Combiner kind = tile::Combiner::Add;
  if (auto fma = dyn_cast<math::FmaOp>(combine); fma && fma.getC() == before) {
    term = arith::MulFOp::create(builder, loc, asWhole(fma.getA()),
                                 asWhole(fma.getB()));
  } else if (auto less = dyn_cast<arith::SubFOp>(combine);
             less && less.getLhs() == before && less.getRhs() != before) {
    term = asWhole(less.getRhs());
  } else {
    std::optional<tile::Combiner> known = combinerOf(combine);
    if (!known || combine->getNumOperands() != 2)
      return refuse();
    kind = *known;
    if (combine->getOperand(0) == before && combine->getOperand(1) != before)
      term = asWhole(combine->getOperand(1));
    else if (combine->getOperand(1) == before)
      term = asWhole(combine->getOperand(0));
    else
      return refuse();
  }
  auto type = cast<RankedTensorType>(term.getType());
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(reduced, static_cast<int64_t>(dim)))
      kept.push_back(extent);
  Value sum = tile::ReduceOp::create(
      builder, loc, RankedTensorType::get(kept, type.getElementType()), kind,
      /*withinThread=*/false, term, reduced, Value());
  // From the order of the loops to that of the output.
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
  SmallVector<int64_t> order, extents;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      return refuse();
    int64_t position = dim.getPosition();
    order.push_back(position - llvm::count_if(reduced, [&](int64_t gone) {
                      return gone < position;
                    }));
    extents.push_back(shape[position]);
  }
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> places(order.size());
    for (auto [i, at] : llvm::enumerate(order))
      places[at] = i;
    sum = tile::BroadcastOp::create(
        builder, loc, RankedTensorType::get(extents, type.getElementType()),
        sum, places);
  }
  FailureOr<Value> start = asTile(op.getDpsInits()[output]);
  if (failed(start))
    return failure();
  if (isa<math::FmaOp>(combine))
    return arith::AddFOp::create(builder, loc, *start, sum).getResult();
  OperationState state(loc, combine->getName());
  state.addOperands({*start, sum});
  state.addTypes(sum.getType());
  state.propertiesAttr = combine->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

LogicalResult BlockToTile::convertGeneric(linalg::GenericOp op) {
  SmallVector<int64_t> shape = op.getStaticLoopRanges();
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return op.emitError("computes on unknown extents, which has no form on a "
                        "GPU yet");
  IRMapping body;
  auto bring = [&](OpOperand &operand) -> LogicalResult {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      return success();
    if (!isa<RankedTensorType>(operand.get().getType())) {
      body.map(argument, scalars.lookup(operand.get()));
      return success();
    }
    FailureOr<Value> elements = asTile(operand.get());
    if (failed(elements))
      return failure();
    FailureOr<Value> placed =
        onIterations(op, *elements, op.getMatchingIndexingMap(&operand), shape);
    if (failed(placed))
      return failure();
    body.map(argument, *placed);
    return success();
  };
  SmallVector<SmallVector<int64_t>> reduced;
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
  // What adds a term to a sum is no arithmetic on iterations.
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  DenseSet<Operation *> combining;
  for (auto [output, gone] : llvm::enumerate(reduced)) {
    if (gone.empty())
      continue;
    BlockArgument before = op.getRegionOutputArgs()[output];
    Operation *def = yield.getValues()[output].getDefiningOp();
    // The sum so far is nothing that an iteration may know.
    if (!def || !def->hasOneUse() ||
        llvm::any_of(before.getUsers(),
                     [&](Operation *user) { return user != def; }))
      return refuseResult(op, output);
    if (!before.use_empty())
      combining.insert(def);
  }
  // What tiling makes of an index is arithmetic like any other.
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
  for (Operation &point : op.getBody()->without_terminator())
    if (!combining.contains(&point) &&
        failed(convertPoint(&point, body, shape)))
      return failure();
  SmallVector<Value> results;
  for (auto [output, gone] : llvm::enumerate(reduced)) {
    if (!gone.empty()) {
      FailureOr<Value> sum = reduceInto(op, output, gone, body, shape);
      if (failed(sum))
        return failure();
      results.push_back(*sum);
      continue;
    }
    Value value = yield.getValues()[output];
    Value here =
        body.contains(value) ? body.lookup(value) : scalars.lookup(value);
    if (!isa<RankedTensorType>(here.getType()))
      here = splat(op.getLoc(), here, shape);
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
    if (!map.isIdentity()) {
      if (!map.isPermutation())
        return op.emitError("writes at indices that are not those of its "
                            "loops, which has no form on a GPU yet");
      // Dimension d of the iterations is where the output has d.
      SmallVector<int64_t> places(shape.size()), extents;
      for (auto [i, result] : llvm::enumerate(map.getResults())) {
        unsigned dim = cast<AffineDimExpr>(result).getPosition();
        places[dim] = i;
        extents.push_back(shape[dim]);
      }
      here = tile::BroadcastOp::create(
          builder, op.getLoc(),
          RankedTensorType::get(extents, getElementTypeOrSelf(here)), here,
          places);
    }
    results.push_back(here);
  }
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    setTile(result, value);
  return success();
}

LogicalResult BlockToTile::convertLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return op->emitOpError("works on memory instead of tensors, which has no "
                           "form on a GPU yet");
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation()))
    return convertFill(fill);
  if (isPlainProduct(op))
    if (std::optional<LogicalResult> dot = convertDot(op))
      return *dot;
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return convertGeneric(generic);
  // A product of other than two matrices: term by term.
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return op->emitOpError("has no form on a GPU yet");
  return convertGeneric(*generic);
}

} // namespace drawloom::nvptx
