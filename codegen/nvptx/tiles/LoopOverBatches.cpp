//===- LoopOverBatches.cpp - products of a batch, one by one --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product whose operands have their batch among other dimensions (blocks of a
// diagonal, times rows) has no instruction. Each of its matrices has.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/tiles/BlockToTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXLOOPOVERBATCHES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// The part of a tensor, of type `type` without the batch's dimension, that is
/// at `at` of it.
struct BatchPart {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  RankedTensorType type;

  BatchPart(OpBuilder &builder, RankedTensorType whole, AffineMap map,
            unsigned batch, OpFoldResult at)
      : offsets(whole.getRank(), builder.getIndexAttr(0)),
        sizes(getAsIndexOpFoldResult(builder.getContext(), whole.getShape())),
        strides(whole.getRank(), builder.getIndexAttr(1)) {
    SmallVector<int64_t> shape;
    for (auto [dim, index] : llvm::enumerate(map.getResults()))
      if (index == builder.getAffineDimExpr(batch)) {
        offsets[dim] = at;
        sizes[dim] = builder.getIndexAttr(1);
      } else {
        shape.push_back(whole.getDimSize(dim));
      }
    type = RankedTensorType::get(shape, whole.getElementType());
  }
};

/// The product of the matrices at `at` of the batch, put into `into`.
Value multiplyAt(OpBuilder &builder, linalg::LinalgOp op, unsigned batch,
                 OpFoldResult at, Value into) {
  Location loc = op.getLoc();
  SmallVector<Value> parts;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    BatchPart part(builder, cast<RankedTensorType>(operand.get().getType()),
                   map, batch, at);
    auto fill = operand.get().getDefiningOp<linalg::FillOp>();
    if (fill) {
      Value empty = tensor::EmptyOp::create(builder, loc, part.type.getShape(),
                                            part.type.getElementType());
      parts.push_back(
          linalg::FillOp::create(builder, loc, fill.getInputs(), empty)
              .getResult(0));
    } else {
      parts.push_back(tensor::ExtractSliceOp::create(
          builder, loc, part.type, operand.get(), part.offsets, part.sizes,
          part.strides));
    }
    SmallVector<AffineExpr> results;
    for (AffineExpr index : map.getResults())
      if (index != builder.getAffineDimExpr(batch))
        results.push_back(index);
    auto without =
        AffineMap::get(map.getNumDims(), 0, results, builder.getContext());
    llvm::SmallBitVector dropped(map.getNumDims());
    dropped.set(batch);
    maps.push_back(projectDims(without, dropped, /*compressDimsFlag=*/true));
  }
  Value product =
      linalg::ContractOp::create(builder, loc, parts[2].getType(),
                                 ArrayRef(parts).take_front(2), parts[2],
                                 builder.getAffineMapArrayAttr(maps))
          .getResult(0);
  BatchPart part(builder, cast<RankedTensorType>(into.getType()),
                 op.getIndexingMapsArray()[2], batch, at);
  return tensor::InsertSliceOp::create(builder, loc, product, into,
                                       part.offsets, part.sizes, part.strides);
}

struct LoopOverBatches : impl::NvptxLoopOverBatchesBase<LoopOverBatches> {
  using NvptxLoopOverBatchesBase::NvptxLoopOverBatchesBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> batches;
    getOperation().walk([&](linalg::ContractOp op) {
      if (isLarge(op))
        batches.push_back(op);
    });
    for (linalg::LinalgOp op : batches)
      loopOver(op);
  }

private:
  /// Products that registers hold, with all their terms, need no loop.
  bool isLarge(linalg::LinalgOp op) {
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    if (failed(dims) || dims->batch.size() != 1 || dims->m.size() != 1 ||
        dims->n.size() != 1 || dims->k.size() != 1 ||
        isBatchOfDots(op, *dims) ||
        llvm::any_of(extents, ShapedType::isDynamic))
      return false;
    int64_t terms = 1;
    for (int64_t extent : extents)
      terms *= extent;
    return extents[dims->batch[0]] == 1 || terms > registers;
  }

  /// The place in a block's result, where the op's goes nowhere else.
  static Value destinationOf(RewriterBase &rewriter, linalg::LinalgOp op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (op->hasOneUse())
      if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(
              *op->getUsers().begin())) {
        DominanceInfo dominance;
        if (llvm::all_of(insert->getOperands().drop_front(), [&](Value value) {
              return dominance.properlyDominates(value, op);
            }))
          return tensor::ExtractSliceOp::create(
              rewriter, op.getLoc(), type, insert.getDest(),
              insert.getMixedOffsets(), insert.getMixedSizes(),
              insert.getMixedStrides());
      }
    return tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                   type.getElementType());
  }

  static void loopOver(linalg::LinalgOp op) {
    unsigned batch = linalg::inferContractionDims(op)->batch[0];
    int64_t count = op.getStaticLoopRanges()[batch];
    IRRewriter rewriter(op);
    Location loc = op.getLoc();
    Value into = destinationOf(rewriter, op);
    if (count == 1) {
      rewriter.replaceOp(
          op, multiplyAt(rewriter, op, batch, rewriter.getIndexAttr(0), into));
      return;
    }
    auto bound = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, number);
    };
    auto loop = scf::ForOp::create(rewriter, loc, bound(0), bound(count),
                                   bound(1), into);
    rewriter.setInsertionPointToEnd(loop.getBody());
    Value next = multiplyAt(rewriter, op, batch, loop.getInductionVar(),
                            loop.getRegionIterArg(0));
    scf::YieldOp::create(rewriter, loc, next);
    rewriter.replaceOp(op, loop);
  }
};

} // namespace
} // namespace drawloom::nvptx
