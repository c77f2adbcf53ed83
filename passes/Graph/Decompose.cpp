//===- Decompose.cpp - patterns that expand domain ops --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/Decompose.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace drawloom {
namespace {

struct DecomposeAggregated
    : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  DecomposeAggregated(MLIRContext *context,
                      std::function<bool(Operation *)> stays)
      : OpInterfaceRewritePattern(context), stays(std::move(stays)) {}

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (stays(op))
      return failure();
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }

  std::function<bool(Operation *)> stays;
};

/// One scalar everywhere: upstream refines the shape of a fill, and not of a
/// splat, by what is known of its extents.
struct FillSplat : OpRewritePattern<tensor::SplatOp> {
  FillSplat(MLIRContext *context, std::function<bool(Operation *)> stays)
      : OpRewritePattern(context), stays(std::move(stays)) {}

  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    if (stays(op))
      return failure();
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(),
                                          op.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }

  std::function<bool(Operation *)> stays;
};

} // namespace

LogicalResult decomposeAll(Operation *root,
                           std::function<bool(Operation *)> stays) {
  RewritePatternSet patterns(root->getContext());
  patterns.add<DecomposeAggregated, FillSplat>(root->getContext(), stays);
  if (failed(applyPatternsGreedily(root, std::move(patterns))))
    return failure();
  WalkResult left = root->walk([&](linalg::AggregatedOpInterface op) {
    if (stays(op))
      return WalkResult::advance();
    op.emitOpError("has no decomposition for these types");
    return WalkResult::interrupt();
  });
  return failure(left.wasInterrupted());
}

} // namespace drawloom
