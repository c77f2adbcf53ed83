//===- Smooth.cpp - a dialect and a pass outside of Drawloom's tree -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Smooth.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

#include "SmoothDialect.cpp.inc"

#define GET_OP_CLASSES
#include "SmoothOps.cpp.inc"

namespace smooth {

void SmoothDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "SmoothOps.cpp.inc"
      >();
}

FailureOr<SmallVector<Value>> SoftsignOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  RankedTensorType type = getX().getType();
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(tensor::DimOp::create(b, loc, getX(), dim));
  Value one = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(type.getElementType(), 1.0));
  Value ones = tensor::SplatOp::create(b, loc, one, type, extents);
  Value size = math::AbsFOp::create(b, loc, getX());
  Value divisor = arith::AddFOp::create(b, loc, ones, size);
  Value y = arith::DivFOp::create(b, loc, getX(), divisor);
  return SmallVector<Value>{y};
}

namespace {
struct ReplaceTanh : OpRewritePattern<drawloom::kan::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(drawloom::kan::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op.getType()))
      return failure();
    rewriter.replaceOpWithNewOp<SoftsignOp>(op, op.getType(), op.getX());
    return success();
  }
};

struct ReplaceTanhPass : PassWrapper<ReplaceTanhPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReplaceTanhPass)
  StringRef getArgument() const override { return "smooth-replace-tanh"; }
  StringRef getDescription() const override {
    return "Replace kan.tanh by smooth.softsign";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<SmoothDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReplaceTanh>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

void registerPasses() { PassRegistration<ReplaceTanhPass>(); }

} // namespace smooth
