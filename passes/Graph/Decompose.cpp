//===- Decompose.cpp - patterns that expand domain ops --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/Decompose.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

namespace drawloom {
namespace {

struct DecomposeAggregated
    : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  DecomposeAggregated(MLIRContext *context, bool tileable)
      : OpInterfaceRewritePattern(context), tileable(tileable) {}

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!tileable && isa<TilingInterface>(op.getOperation()))
      return failure();
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }

  bool tileable;
};

} // namespace

void populateDecompositionPatterns(RewritePatternSet &patterns, bool tileable) {
  patterns.add<DecomposeAggregated>(patterns.getContext(), tileable);
}

} // namespace drawloom
