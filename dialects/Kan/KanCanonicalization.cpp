//===- KanCanonicalization.cpp - shapes that become known -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace drawloom::kan {

namespace {

/// Where an operand is a cast that forgets the number of rows, computes on what
/// was cast: the casts move behind the op, until they meet their opposites.
template <typename Op> struct RememberRows : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
    if (!resultType.isDynamicDim(0))
      return failure();
    int64_t rows = ShapedType::kDynamic;
    for (OpOperand &operand : op->getOpOperands())
      if (op.isRowOperand(operand.getOperandNumber()))
        if (auto forgets = operand.get().getDefiningOp<tensor::CastOp>())
          if (auto type =
                  dyn_cast<RankedTensorType>(forgets.getSource().getType());
              type && !type.isDynamicDim(0))
            rows = type.getDimSize(0);
    if (ShapedType::isDynamic(rows))
      return failure();

    auto withRows = [&](RankedTensorType type) {
      SmallVector<int64_t> shape(type.getShape());
      shape[0] = rows;
      return type.clone(shape);
    };
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (op.isRowOperand(operand.getOperandNumber()))
        value = tensor::CastOp::create(
            rewriter, op.getLoc(),
            withRows(cast<RankedTensorType>(value.getType())), value);
      operands.push_back(value);
    }
    auto known =
        Op::create(rewriter, op.getLoc(), TypeRange(withRows(resultType)),
                   operands, op->getAttrs());
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, resultType,
                                                known->getResult(0));
    return success();
  }
};

/// Formulas on tensors of any number of rows splat their constants to a size
/// that is an operand. Once it is a constant it belongs into the type, from
/// where upstream's patterns carry it on. Upstream has none for this op.
struct KnowSplatSize : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> shape(op.getType().getShape());
    SmallVector<Value> unknown;
    auto size = op.getDynamicSizes().begin();
    for (int64_t &extent : shape) {
      if (!ShapedType::isDynamic(extent))
        continue;
      APInt constant;
      if (matchPattern(*size, m_ConstantInt(&constant)) &&
          constant.isNonNegative())
        extent = constant.getSExtValue();
      else
        unknown.push_back(*size);
      ++size;
    }
    if (unknown.size() == op.getDynamicSizes().size())
      return failure();
    auto type = RankedTensorType::get(shape, op.getType().getElementType());
    Value known = tensor::SplatOp::create(rewriter, op.getLoc(), type,
                                          op.getInput(), unknown);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), known);
    return success();
  }
};

} // namespace

void KanDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<KnowSplatSize>(getContext());
}

void GridEncodeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<RememberRows<GridEncodeOp>>(context);
}

void GridEncodeVjpCoordinatesOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<RememberRows<GridEncodeVjpCoordinatesOp>>(context);
}

} // namespace drawloom::kan
