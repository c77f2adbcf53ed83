//===- SimplifyTiles.cpp - arithmetic that has an instruction of its own --===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXSIMPLIFYTILES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

bool isZeroTile(Value value) {
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat && matchPattern(splat.getValue(), m_PosZeroFloat());
}

/// Whether `value` is `number`, or the same number in a wider type.
bool isOrWidens(Value value, Value number) {
  if (value == number)
    return true;
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  return wide && wide.getIn() == number;
}

/// x > 0 ? x : 0, NaN kept where the comparison is unordered.
struct SelectIsMaximum : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compare || !isa<RankedTensorType>(op.getType()) ||
        !isZeroTile(op.getFalseValue()) || !isZeroTile(compare.getRhs()) ||
        !isOrWidens(compare.getLhs(), op.getTrueValue()))
      return failure();
    if (compare.getPredicate() == arith::CmpFPredicate::UGT)
      rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, op.getTrueValue(),
                                                     op.getFalseValue());
    else if (compare.getPredicate() == arith::CmpFPredicate::OGT)
      rewriter.replaceOpWithNewOp<arith::MaxNumFOp>(op, op.getTrueValue(),
                                                    op.getFalseValue());
    else
      return failure();
    return success();
  }
};

/// Rounding keeps the sign: the maximum with zero of a narrow number needs no
/// wide one.
struct MaximumOfNarrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto maximum = op.getIn().getDefiningOp<arith::MaximumFOp>();
    if (!maximum || !maximum->hasOneUse() || !isZeroTile(maximum.getRhs()))
      return failure();
    auto wide = maximum.getLhs().getDefiningOp<arith::ExtFOp>();
    if (!wide || wide.getIn().getType() != op.getType())
      return failure();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    Value zero = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getZeroAttr(type.getElementType()));
    Value zeros = tile::SplatOp::create(rewriter, op.getLoc(), type, zero);
    rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, wide.getIn(), zeros);
    return success();
  }
};

/// A choice between a narrow number and zero needs no wide ones.
struct SelectOfNarrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto select = op.getIn().getDefiningOp<arith::SelectOp>();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!select || !type || !select->hasOneUse() ||
        !isZeroTile(select.getFalseValue()))
      return failure();
    auto wide = select.getTrueValue().getDefiningOp<arith::ExtFOp>();
    if (!wide || wide.getIn().getType() != type)
      return failure();
    Value zero = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getZeroAttr(type.getElementType()));
    Value zeros = tile::SplatOp::create(rewriter, op.getLoc(), type, zero);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, select.getCondition(),
                                                 wide.getIn(), zeros);
    return success();
  }
};

/// What folding makes of ops on known tiles: constants, which could not be
/// given a layout.
struct SplatConstants : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op,
                                PatternRewriter &rewriter) const override {
    auto splatted = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splatted)
      return failure();
    Value scalar = arith::ConstantOp::create(
        rewriter, op.getLoc(), splatted.getSplatValue<TypedAttr>());
    rewriter.replaceOpWithNewOp<tile::SplatOp>(op, op.getType(), scalar);
    return success();
  }
};

/// Where max(x, 0) is at hand, it says which x are greater than zero (or no
/// numbers): x, and a comparison made when x was, need not live until then. Of
/// the maximum itself, those that are not zero are.
struct ConditionFromMaximum : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::UGT ||
        !isZeroTile(compare.getRhs()))
      return failure();
    Value x = compare.getLhs();
    auto wide = x.getDefiningOp<arith::ExtFOp>();
    for (Value number : {x, wide ? wide.getIn() : Value()}) {
      if (!number)
        continue;
      SmallVector<Operation *> candidates(number.getUsers());
      if (Operation *own = number.getDefiningOp())
        candidates.push_back(own);
      for (Operation *candidate : candidates) {
        auto maximum = dyn_cast<arith::MaximumFOp>(candidate);
        if (!maximum ||
            (maximum.getLhs() != number && maximum.getResult() != number) ||
            !isZeroTile(maximum.getRhs()) ||
            maximum->getBlock() != op->getBlock() ||
            !maximum->isBeforeInBlock(op))
          continue;
        Value condition = arith::CmpFOp::create(rewriter, compare.getLoc(),
                                                arith::CmpFPredicate::UNE,
                                                maximum, maximum.getRhs());
        rewriter.modifyOpInPlace(
            op, [&] { op.getConditionMutable().assign(condition); });
        return success();
      }
    }
    return failure();
  }
};

/// Tensor cores add a product to what is there: x + a b needs no registers for
/// a b alone. What is the same in all rows stays a sum of its own, since an
/// accumulator would need copies of it.
struct SumOfProduct : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [product, other] : {std::pair(op.getLhs(), op.getRhs()),
                                  std::pair(op.getRhs(), op.getLhs())}) {
      auto dot = product.getDefiningOp<tile::DotOp>();
      if (!dot || !dot->hasOneUse() || !usesTensorCores(dot) ||
          !isZeroTile(dot.getAccumulator()) || product == other ||
          dot->getBlock() != op->getBlock() ||
          !isa<RankedTensorType>(dot.getA().getType()) ||
          !isa<RankedTensorType>(dot.getB().getType()) ||
          other.getDefiningOp<tile::BroadcastOp>() ||
          other.getDefiningOp<tile::SplatOp>())
        continue;
      auto sum = cast<tile::DotOp>(rewriter.clone(*dot));
      sum.getAccumulatorMutable().assign(other);
      rewriter.replaceOp(op, sum.getResult());
      return success();
    }
    return failure();
  }
};

/// Views of one row of a tile that was stored whole, which only loads read.
static LogicalResult collectRows(tile::AllocOp buffer, tile::StoreOp &store,
                                 SmallVectorImpl<tile::LoadOp> &rows) {
  for (Operation *user : buffer->getUsers()) {
    if (auto whole = dyn_cast<tile::StoreOp>(user)) {
      if (store || whole->getBlock() != buffer->getBlock())
        return failure();
      store = whole;
      continue;
    }
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view || view->getNumOperands() != 1 ||
        view.getSourceType().getRank() != 2 || view.getType().getRank() != 1 ||
        view.getStaticSizes()[0] != 1 ||
        view.getStaticSizes()[1] != view.getSourceType().getDimSize(1) ||
        view.getStaticOffsets()[1] != 0 || view.getStaticStrides()[1] != 1)
      return failure();
    for (Operation *reader : view->getUsers()) {
      auto load = dyn_cast<tile::LoadOp>(reader);
      if (!load)
        return failure();
      rows.push_back(load);
    }
  }
  return success(store != nullptr);
}

/// A few rows of a tile are where the tile is: no need to store all of it.
struct RowsOfTile : OpRewritePattern<tile::AllocOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::AllocOp op,
                                PatternRewriter &rewriter) const override {
    tile::StoreOp store;
    SmallVector<tile::LoadOp> rows;
    if (failed(collectRows(op, store, rows)) || rows.empty())
      return failure();
    auto type = cast<RankedTensorType>(store.getSource().getType());
    // More of them would take more exchanges than stores.
    if (static_cast<int64_t>(rows.size()) * 4 > type.getDimSize(0))
      return failure();
    for (tile::LoadOp row : rows) {
      Operation *at = op->getBlock()->findAncestorOpInBlock(*row);
      if (!at || !store->isBeforeInBlock(at))
        return failure();
    }
    SmallVector<Operation *> views;
    for (tile::LoadOp row : rows) {
      auto view = row.getSource().getDefiningOp<memref::SubViewOp>();
      if (!llvm::is_contained(views, view))
        views.push_back(view);
      rewriter.setInsertionPoint(row);
      rewriter.replaceOpWithNewOp<tile::SliceOp>(
          row, row.getType(), store.getSource(), view.getStaticOffsets()[0], 0);
    }
    for (Operation *view : views)
      rewriter.eraseOp(view);
    rewriter.eraseOp(store);
    rewriter.eraseOp(op);
    return success();
  }
};

struct NvptxSimplifyTiles : impl::NvptxSimplifyTilesBase<NvptxSimplifyTiles> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<SelectIsMaximum, MaximumOfNarrow, SelectOfNarrow,
             ConditionFromMaximum, SumOfProduct, RowsOfTile, SplatConstants>(
            &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom::nvptx
