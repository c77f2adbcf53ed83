//===- KanGridCanonicalization.cpp - grid ops on known shapes -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

} // namespace

void GridEncodeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<RememberRows<GridEncodeOp>>(context);
}

void GridEncodeVjpCoordinatesOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<RememberRows<GridEncodeVjpCoordinatesOp>>(context);
}

} // namespace drawloom::kan
