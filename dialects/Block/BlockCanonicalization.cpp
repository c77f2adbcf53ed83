//===- BlockCanonicalization.cpp - loops of one block, slices, zeros ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace drawloom::block {

bool isZeros(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_PosZeroFloat()) ||
                  matchPattern(fill.getInputs()[0], m_Zero()));
}

namespace {

/// A loop of one iteration is its body. Upstream has this pattern too, but
/// takes the n-th insert for the n-th result (scf::promote): it drops the
/// second of two inserts into one result, and exchanges results where inserts
/// have another order. So this one comes first for such loops.
struct InlineSingleBlock : OpRewritePattern<scf::ForallOp> {
  explicit InlineSingleBlock(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(scf::ForallOp loop,
                                PatternRewriter &rewriter) const override {
    for (auto [lower, upper, step] :
         llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                   loop.getMixedStep())) {
      std::optional<int64_t> first = getConstantIntValue(lower),
                             end = getConstantIntValue(upper),
                             by = getConstantIntValue(step);
      if (!first || !end || !by || *by <= 0 || *first >= *end ||
          *first + *by < *end)
        return failure();
    }
    SmallVector<tensor::ParallelInsertSliceOp> inserts;
    bool inOrder = true;
    for (Operation &op : loop.getTerminator().getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
      if (!insert)
        return failure();
      OpOperand *output =
          loop.getTiedOpOperand(cast<BlockArgument>(insert.getDest()));
      inOrder &= inserts.size() < loop.getNumResults() &&
                 loop.getTiedOpResult(output) ==
                     loop.getResult(static_cast<unsigned>(inserts.size()));
      inserts.push_back(insert);
    }
    if (inOrder && inserts.size() == loop.getNumResults())
      return failure();

    Location loc = loop.getLoc();
    SmallVector<Value> arguments;
    for (OpFoldResult lower : loop.getMixedLowerBound())
      arguments.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, lower));
    llvm::append_range(arguments, loop.getOutputs());
    SmallVector<Value> results(loop.getOutputs());
    rewriter.setInsertionPoint(loop);
    // Behind the body, one insert after another.
    SmallVector<std::pair<unsigned, tensor::ParallelInsertSliceOp>> order;
    for (tensor::ParallelInsertSliceOp insert : inserts) {
      OpOperand *output =
          loop.getTiedOpOperand(cast<BlockArgument>(insert.getDest()));
      order.push_back({loop.getTiedOpResult(output).getResultNumber(), insert});
    }
    scf::InParallelOp terminator = loop.getTerminator();
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.setInsertionPoint(loop);
    for (auto [number, insert] : order)
      results[number] = tensor::InsertSliceOp::create(
          rewriter, insert.getLoc(), insert.getSource(), results[number],
          insert.getMixedOffsets(), insert.getMixedSizes(),
          insert.getMixedStrides());
    rewriter.eraseOp(terminator);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

/// Constants among the offsets, sizes and strides of `op` become attributes.
/// False where there are none.
bool foldConstants(OffsetSizeAndStrideOpInterface op,
                   SmallVector<OpFoldResult> &offsets,
                   SmallVector<OpFoldResult> &sizes,
                   SmallVector<OpFoldResult> &strides) {
  offsets = op.getMixedOffsets();
  sizes = op.getMixedSizes();
  strides = op.getMixedStrides();
  // Negative offsets and sizes are errors of the program, which stay where they
  // are.
  bool changed = succeeded(foldDynamicOffsetSizeList(offsets));
  changed |= succeeded(foldDynamicOffsetSizeList(sizes));
  changed |= succeeded(foldDynamicStrideList(strides));
  return changed;
}

/// A slice of `sizes` without the dimensions that are `dropped`.
RankedTensorType reducedType(RankedTensorType like,
                             ArrayRef<OpFoldResult> sizes,
                             const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped.test(dim))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return like.clone(shape);
}

/// A slice that lacks dimensions of extent 1 has constants for attributes.
/// Upstream has these patterns too, but drops the first such dimensions, whose
/// extents the slice may have, and casts 64x1 to 1x64. So these come first.
struct ExtractConstantSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  explicit ExtractConstantSlice(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    if (dropped.none() || !foldConstants(slice, offsets, sizes, strides))
      return failure();
    RankedTensorType type = reducedType(slice.getType(), sizes, dropped);
    Value folded = tensor::ExtractSliceOp::create(rewriter, slice.getLoc(),
                                                  type, slice.getSource(),
                                                  offsets, sizes, strides);
    if (type != slice.getType())
      folded = tensor::CastOp::create(rewriter, slice.getLoc(), slice.getType(),
                                      folded);
    rewriter.replaceOp(slice, folded);
    return success();
  }
};

template <typename InsertOp>
struct InsertConstantSlice : OpRewritePattern<InsertOp> {
  explicit InsertConstantSlice(MLIRContext *context)
      : OpRewritePattern<InsertOp>(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(InsertOp insert,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    if (dropped.none() || !foldConstants(insert, offsets, sizes, strides))
      return failure();
    RankedTensorType type = reducedType(insert.getSourceType(), sizes, dropped);
    Value source = insert.getSource();
    if (type != insert.getSourceType()) {
      // A branch of a scf.forall's end holds nothing else.
      OpBuilder::InsertionGuard guard(rewriter);
      if constexpr (std::is_same_v<InsertOp, tensor::ParallelInsertSliceOp>)
        rewriter.setInsertionPoint(insert->getParentOp());
      source = tensor::CastOp::create(rewriter, insert.getLoc(), type, source);
    }
    rewriter.replaceOpWithNewOp<InsertOp>(insert, source, insert.getDest(),
                                          offsets, sizes, strides);
    return success();
  }
};

/// Any row of zeros, and that of no index, is zeros.
struct GatherZeros : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp gather,
                                PatternRewriter &rewriter) const override {
    if (!isZeros(gather.getSource()))
      return failure();
    auto fill = gather.getSource().getDefiningOp<linalg::FillOp>();
    rewriter.replaceOpWithNewOp<linalg::FillOp>(gather, fill.getInputs(),
                                                gather.getInit());
    return success();
  }
};

/// A reshape's type has the extents that `output_shape` says. Where upstream
/// joins two reshapes, their type may leave such extents open; and where the
/// source becomes a cast, its pattern reads an operand for each open extent,
/// which is not there: it crashes. So this one comes first.
struct KnowExpandedShape : OpRewritePattern<tensor::ExpandShapeOp> {
  explicit KnowExpandedShape(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType old = op.getResultType();
    SmallVector<int64_t> shape(old.getShape());
    for (auto [extent, said] :
         llvm::zip_equal(shape, op.getStaticOutputShape()))
      if (ShapedType::isDynamic(extent))
        extent = said;
    if (ArrayRef(shape) == old.getShape())
      return failure();
    SmallVector<int64_t> from(op.getSrcType().getShape());
    for (auto [extent, group] :
         llvm::zip_equal(from, op.getReassociationIndices())) {
      int64_t product = 1;
      for (int64_t i : group)
        product =
            ShapedType::isDynamic(product) || ShapedType::isDynamic(shape[i])
                ? ShapedType::kDynamic
                : product * shape[i];
      extent = product;
    }
    Value source = op.getSrc();
    auto known = op.getSrcType().clone(from);
    if (known != op.getSrcType())
      source = tensor::CastOp::create(rewriter, op.getLoc(), known, source);
    auto expanded = tensor::ExpandShapeOp::create(
        rewriter, op.getLoc(), old.clone(shape), source,
        op.getReassociationIndices(), op.getMixedOutputShape());
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, old, expanded);
    return success();
  }
};

} // namespace

void BlockDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<GatherZeros, InlineSingleBlock, KnowExpandedShape,
               ExtractConstantSlice, InsertConstantSlice<tensor::InsertSliceOp>,
               InsertConstantSlice<tensor::ParallelInsertSliceOp>>(
      getContext());
}

} // namespace drawloom::block
