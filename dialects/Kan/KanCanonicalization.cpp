//===- KanCanonicalization.cpp - shapes that become known -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/RowTiling.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace drawloom::kan {

namespace {

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
