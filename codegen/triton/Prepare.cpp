//===- Prepare.cpp - every piece of work becomes blocks -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/Prepare.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Block/Products.h"
#include "passes/Graph/Passes.h"

using namespace mlir;
using namespace drawloom;

/// Elements of a block's result, and of what one step of a reduction reads.
static constexpr int64_t kBlockElements = 1024;
static constexpr int64_t kStepElements = 8192;
/// Extents of a block of a product.
static constexpr int64_t kProductExtent = 64;

LogicalResult triton::simplifyForTtir(ModuleOp module) {
  PassManager pm(module.getContext());
  // Without its canonicalization, which would take single blocks apart.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createPromoteAccumulators());
  return pm.run(module);
}

/// The largest divisor of an extent up to a limit.
static int64_t divisorUpTo(int64_t extent, int64_t limit) {
  for (int64_t divisor = std::min(extent, limit); divisor > 1; --divisor)
    if (extent % divisor == 0)
      return divisor;
  return 1;
}

/// Tiles of at most `budget` elements, whole inner dimensions first.
static SmallVector<int64_t> blockShape(ArrayRef<int64_t> extents,
                                       int64_t budget) {
  SmallVector<int64_t> shape(extents.size(), 1);
  for (int64_t i = int64_t(extents.size()) - 1; i >= 0; --i) {
    shape[i] = divisorUpTo(extents[i], budget);
    budget /= shape[i];
  }
  return shape;
}

/// An scf.forall with one dimension for each of the extents that are cut (one
/// block where none is). `starts` are where a block begins, zero for the
/// others.
static scf::ForallOp createBlocks(OpBuilder &builder, Location loc,
                                  ArrayRef<int64_t> extents,
                                  ArrayRef<int64_t> shape, ValueRange inits,
                                  SmallVectorImpl<OpFoldResult> &starts) {
  SmallVector<OpFoldResult> counts;
  for (auto [extent, own] : llvm::zip(extents, shape))
    if (own < extent)
      counts.push_back(builder.getIndexAttr(extent / own));
  if (counts.empty())
    counts.push_back(builder.getIndexAttr(1));
  auto forall =
      scf::ForallOp::create(builder, loc, counts, inits, std::nullopt);
  builder.setInsertionPoint(forall.getTerminator());
  unsigned next = 0;
  for (auto [extent, own] : llvm::zip(extents, shape)) {
    if (own == extent) {
      starts.push_back(builder.getIndexAttr(0));
      continue;
    }
    Value id = forall.getInductionVar(next++);
    Value size = arith::ConstantIndexOp::create(builder, loc, own);
    starts.push_back(arith::MulIOp::create(builder, loc, id, size).getResult());
  }
  return forall;
}

static void storeBlock(OpBuilder &builder, scf::ForallOp forall, Value tile,
                       unsigned output, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> strides) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, tile.getLoc(), tile,
                                        forall.getRegionIterArgs()[output],
                                        offsets, sizes, strides);
}

static SmallVector<OpFoldResult> constants(OpBuilder &builder,
                                           ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult {
    return builder.getIndexAttr(value);
  });
}

static Value insertByBlocks(OpBuilder &builder, Location loc, Value source,
                            Value dest, ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> strides,
                            const llvm::SmallBitVector &dropped) {
  auto type = cast<RankedTensorType>(source.getType());
  ArrayRef<int64_t> extents = type.getShape();
  SmallVector<int64_t> shape = blockShape(extents, kBlockElements);
  SmallVector<OpFoldResult> starts;
  OpBuilder::InsertionGuard guard(builder);
  scf::ForallOp forall =
      createBlocks(builder, loc, extents, shape, dest, starts);
  SmallVector<int64_t> ones(shape.size(), 1);
  Value tile = tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), source,
      starts, constants(builder, shape), constants(builder, ones));
  SmallVector<OpFoldResult> places, sizes;
  unsigned next = 0;
  for (auto [i, offset, stride] : llvm::enumerate(offsets, strides)) {
    if (dropped[i]) {
      places.push_back(offset);
      sizes.push_back(builder.getIndexAttr(1));
      continue;
    }
    AffineExpr a = builder.getAffineDimExpr(0), b = builder.getAffineDimExpr(1),
               c = builder.getAffineDimExpr(2);
    places.push_back(affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(3, 0, a + b * c, builder.getContext()),
        {offset, starts[next],
         builder.getIndexAttr(getConstantIntValue(stride).value_or(1))}));
    sizes.push_back(builder.getIndexAttr(shape[next++]));
  }
  storeBlock(builder, forall, tile, 0, places, sizes, strides);
  return forall.getResult(0);
}

Value triton::copyByBlocks(Operation *before, Value source) {
  OpBuilder builder(before);
  auto type = cast<RankedTensorType>(source.getType());
  Value empty = tensor::EmptyOp::create(builder, source.getLoc(),
                                        type.getShape(), type.getElementType());
  SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
  return insertByBlocks(builder, source.getLoc(), source, empty,
                        constants(builder, zeros), constants(builder, ones),
                        llvm::SmallBitVector(type.getRank()));
}

//===----------------------------------------------------------------------===//
// Work beside blocks
//===----------------------------------------------------------------------===//

/// Whether kernels see the results without any work.
static bool isView(Operation *op) {
  return isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::CastOp, arith::ConstantOp,
             linalg::FillOp, scf::ForallOp>(op);
}

/// One block runs the whole op.
static LogicalResult blockWhole(RewriterBase &rewriter, Operation *op) {
  WalkResult inner = op->walk([](scf::ForallOp forall) {
    forall.emitError("no TTIR for 'scf.forall': it stands inside of a loop or "
                     "a branch, which a host program would have to run");
    return WalkResult::interrupt();
  });
  if (inner.wasInterrupted())
    return failure();
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  SmallVector<Value> inits;
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape())
      return op->emitError("no TTIR for '")
             << op->getName() << "': between blocks, it has a result that is "
             << "no tensor of static shape";
    inits.push_back(destination ? destination.getTiedOpOperand(result)->get()
                                : tensor::EmptyOp::create(rewriter, loc,
                                                          type.getShape(),
                                                          type.getElementType())
                                      .getResult());
  }
  SmallVector<OpFoldResult> starts;
  scf::ForallOp forall = createBlocks(rewriter, loc, {}, {}, inits, starts);
  Operation *inside = rewriter.clone(*op);
  for (OpResult result : inside->getResults()) {
    unsigned i = result.getResultNumber();
    if (destination)
      cast<DestinationStyleOpInterface>(inside).getTiedOpOperand(result)->set(
          forall.getRegionIterArgs()[i]);
    ArrayRef<int64_t> shape = cast<ShapedType>(result.getType()).getShape();
    SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
    storeBlock(rewriter, forall, result, i, constants(rewriter, zeros),
               constants(rewriter, shape), constants(rewriter, ones));
  }
  rewriter.replaceOp(op, forall.getResults());
  return success();
}

/// The slice of another tensor that an op's result is for, where that is all
/// that it is used for: blocks then store there.
static tensor::InsertSliceOp soleInsertion(OpResult result) {
  if (!result.hasOneUse())
    return nullptr;
  auto insert = dyn_cast<tensor::InsertSliceOp>(*result.user_begin());
  if (!insert || insert.getSource() != result ||
      insert->getBlock() != result.getOwner()->getBlock() ||
      !insert.hasUnitStride() || insert.getDroppedDims().any() ||
      insert.getDest() == result || !insert.getOffsets().empty())
    return nullptr;
  // What is inserted into must be there already.
  Operation *dest = insert.getDest().getDefiningOp();
  if (dest && !dest->isBeforeInBlock(result.getOwner()))
    return nullptr;
  return insert;
}

/// Cuts a linalg op into blocks along its parallel loops, and its reductions
/// into steps. What results start from is read from where it is, not from the
/// blocks' outputs, which are only written.
static LogicalResult blockLinalg(RewriterBase &rewriter, linalg::LinalgOp op,
                                 llvm::SmallPtrSetImpl<Operation *> &gone) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(ranges))
    return op.emitError("no TTIR for '")
           << op->getName() << "': dynamic extents between blocks";
  bool isProduct = isPlainProduct(op);
  SmallVector<int64_t> shape(ranges), cutExtents, cutShape;
  SmallVector<unsigned> parallel, reduction;
  op.getParallelDims(parallel);
  op.getReductionDims(reduction);
  for (unsigned loop : parallel) {
    int64_t limit = isProduct ? kProductExtent : ranges[loop];
    cutExtents.push_back(ranges[loop]);
    cutShape.push_back(divisorUpTo(ranges[loop], limit));
  }
  int64_t budget = isProduct ? kProductExtent * kProductExtent : kBlockElements;
  for (int64_t i = int64_t(cutShape.size()) - 1; i >= 0; --i) {
    cutShape[i] = divisorUpTo(cutExtents[i], std::min(cutShape[i], budget));
    budget /= cutShape[i];
  }
  int64_t elements = 1;
  for (auto [loop, extent] : llvm::zip(parallel, cutShape)) {
    shape[loop] = extent;
    elements *= extent;
  }

  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> starts;
  SmallVector<Value> outputs(op.getDpsInits());
  SmallVector<tensor::InsertSliceOp> insertions;
  for (OpResult result : op->getResults()) {
    insertions.push_back(soleInsertion(result));
    if (insertions.back())
      outputs[result.getResultNumber()] = insertions.back().getDest();
  }
  scf::ForallOp forall =
      createBlocks(rewriter, loc, ranges, shape, outputs, starts);
  auto inside = cast<linalg::LinalgOp>(rewriter.clone(*op));
  auto tiling = cast<TilingInterface>(inside.getOperation());
  SmallVector<OpFoldResult> sizes = constants(rewriter, shape);
  FailureOr<TilingResult> tiled =
      tiling.getTiledImplementation(rewriter, starts, sizes);
  if (failed(tiled) || tiled->tiledOps.size() != 1)
    return op.emitError("no TTIR for '")
           << op->getName() << "': it cannot be cut into blocks";
  Operation *block = tiled->tiledOps.front();

  // Steps of reductions that are too long for one tile.
  int64_t stepBudget = std::max<int64_t>(1, kStepElements / elements);
  SmallVector<OpFoldResult> steps(ranges.size(), rewriter.getIndexAttr(0));
  bool inSteps = false;
  for (unsigned loop : llvm::reverse(reduction)) {
    int64_t step =
        divisorUpTo(ranges[loop], isProduct ? kProductExtent : stepBudget);
    stepBudget = std::max<int64_t>(1, stepBudget / step);
    if (step == ranges[loop])
      continue;
    steps[loop] = rewriter.getIndexAttr(step);
    inSteps = true;
  }
  SmallVector<Value> tiles(tiled->tiledValues);
  if (inSteps) {
    scf::SCFTilingOptions options;
    options.setTileSizes(steps);
    rewriter.setInsertionPoint(block);
    FailureOr<scf::SCFTilingResult> stepped =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(block), options);
    if (failed(stepped))
      return op.emitError("no TTIR for '")
             << op->getName() << "': its reduction cannot be cut into steps";
    rewriter.replaceOp(block, stepped->replacements);
    tiles.assign(stepped->replacements.begin(), stepped->replacements.end());
  }
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    SmallVector<OpFoldResult> offsets, extents;
    if (failed(tiling.getResultTilePosition(rewriter, i, starts, sizes, offsets,
                                            extents)))
      return failure();
    if (insertions[i])
      for (auto [offset, base] :
           llvm::zip(offsets, insertions[i].getStaticOffsets()))
        offset = affine::makeComposedFoldedAffineApply(
            rewriter, loc, rewriter.getAffineDimExpr(0) + base, {offset});
    SmallVector<int64_t> ones(offsets.size(), 1);
    storeBlock(rewriter, forall, tile, i, offsets, extents,
               constants(rewriter, ones));
  }
  rewriter.eraseOp(inside);
  for (auto [i, insertion] : llvm::enumerate(insertions))
    if (insertion) {
      gone.insert(insertion);
      rewriter.replaceOp(insertion, forall.getResult(i));
    }
  for (auto [result, output] : llvm::zip(op->getResults(), forall.getResults()))
    rewriter.replaceAllUsesWith(result, output);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult triton::blockAllWork(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("no TTIR for a function of several blocks");
  IRRewriter rewriter(function.getContext());
  bool failedAny = false;
  SmallVector<Operation *> work;
  llvm::SmallPtrSet<Operation *, 8> gone;
  for (Operation &op : function.getBody().front())
    if (!isView(&op) && llvm::any_of(op.getResultTypes(), [](Type type) {
          return isa<TensorType>(type);
        }))
      work.push_back(&op);
  for (Operation *next : work) {
    if (gone.contains(next))
      continue;
    Operation &op = *next;
    if (isOpTriviallyDead(&op)) {
      rewriter.eraseOp(&op);
      continue;
    }
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      rewriter.setInsertionPoint(insert);
      if (!insert.getSourceType().hasStaticShape()) {
        failedAny = true;
        op.emitError("no TTIR for 'tensor.insert_slice': dynamic extents "
                     "between blocks");
        continue;
      }
      Value result =
          insertByBlocks(rewriter, insert.getLoc(), insert.getSource(),
                         insert.getDest(), insert.getMixedOffsets(),
                         insert.getMixedStrides(), insert.getDroppedDims());
      rewriter.replaceOp(insert, result);
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      failedAny |= failed(blockLinalg(rewriter, linalgOp, gone));
    } else {
      failedAny |= failed(blockWhole(rewriter, &op));
    }
  }
  if (failedAny)
    return failure();
  // Slices that are the whole, which tiling leaves behind: without them sums
  // are carried as tiles.
  function.walk([&](OffsetSizeAndStrideOpInterface slice) {
    SmallVector<OpFoldResult> folded;
    if (slice->getNumResults() == 1 && succeeded(slice->fold(folded)) &&
        folded.size() == 1 && isa<Value>(folded[0]))
      rewriter.replaceOp(slice, cast<Value>(folded[0]));
  });
  // Each result needs memory of its own.
  Operation *terminator = function.getBody().front().getTerminator();
  llvm::SmallPtrSet<Value, 8> returned;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return function.emitError("no TTIR for a function that returns ")
             << value.getType() << ": only tensors of static shape";
    if (!value.getDefiningOp<scf::ForallOp>() || !returned.insert(value).second)
      operand.set(copyByBlocks(terminator, value));
  }
  return success();
}
