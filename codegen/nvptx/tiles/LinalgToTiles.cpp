//===- LinalgToTiles.cpp - linalg ops as arithmetic on whole tiles --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/tiles/BlockToTile.h"
#include "codegen/nvptx/tiles/GenericToTiles.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "passes/Block/Products.h"

using namespace mlir;

namespace drawloom::nvptx {

LogicalResult BlockToTile::convertFill(linalg::FillOp op) {
  auto type = cast<RankedTensorType>(op.getOutputs()[0].getType());
  if (!type.hasStaticShape())
    return op.emitError("fills a tensor of unknown extents");
  Value filled = homes.splat(
      op.getLoc(), homes.scalars.lookup(op.getInputs()[0]), type.getShape());
  if (const Home &where = homes[op.getOutputs()[0]];
      where.kind == Home::Memory && where.writable && isFilledInPlace(op)) {
    Value memory = where.value;
    tile::StoreOp::create(builder, op.getLoc(), filled, memory);
    homes.setMemory(op.getResult(0), memory, /*writable=*/true);
    return success();
  }
  homes.setTile(op.getResult(0), filled);
  return success();
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
    FailureOr<Value> tile = homes.asTile(tensor);
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
  FailureOr<Value> sums = homes.asTile(op.getDpsInits()[0]);
  if (failed(lhs) || failed(rhs) || failed(sums))
    return failure();
  Type whole = sums->getType();
  if (auto splatted = sums->getDefiningOp<tile::SplatOp>())
    sums = homes.splat(loc, splatted.getValue(),
                       {extents[batch] * extents[m], extents[n]});
  else
    sums = below(op.getDpsInits()[0]);
  if (failed(sums))
    return failure();
  Value product = tile::DotOp::create(
      builder, loc, sums->getType(), *lhs, *rhs, *sums, /*transposeA=*/false,
      transposed, /*neighbours=*/IntegerAttr(), /*tf32=*/false,
      builder.getI64IntegerAttr(extents[batch]));
  homes.setTile(op->getResult(0),
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
    Home &where = homes[value];
    if (where.kind == Home::Memory && !where.writable &&
        tile::isShared(where.value.getType()) &&
        cast<MemRefType>(where.value.getType()).hasStaticShape())
      return where.value;
    return homes.asTile(value);
  };
  FailureOr<Value> lhs = operand(left), rhs = operand(right);
  FailureOr<Value> accumulator = homes.asTile(op.getDpsInits()[0]);
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
      *side = homes.loadTile(
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
  homes.setTile(op->getResult(0), product);
  return success();
}

LogicalResult BlockToTile::convertGeneric(linalg::GenericOp op) {
  FailureOr<SmallVector<Value>> results = genericToTiles(op, builder, homes);
  if (failed(results))
    return failure();
  for (auto [result, tile] : llvm::zip(op.getResults(), *results))
    homes.setTile(result, tile);
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
