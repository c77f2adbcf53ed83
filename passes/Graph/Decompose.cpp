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

} // namespace

LogicalResult decomposeAll(Operation *root,
                           std::function<bool(Operation *)> stays) {
  RewritePatternSet patterns(root->getContext());
  patterns.add<DecomposeAggregated>(root->getContext(), stays);
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
