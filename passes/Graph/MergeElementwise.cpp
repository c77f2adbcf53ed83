//===- MergeElementwise.cpp - chains of elementwise ops become one op -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_MERGEELEMENTWISE
#include "passes/Graph/Passes.h.inc"

namespace {

/// Whether the producer of `operand` should move into the op that reads it.
/// Only where that costs no recomputation, and never into a contraction: its
/// body must stay the bare product for the matrix tiles to recognise it.
/// A comparison is done again for each reader: in memory its result has no
/// vector form.
bool shouldMerge(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  bool comparison = getElementTypeOrSelf(operand->get().getType()).isInteger(1);
  if (!consumer || (!comparison && !operand->get().hasOneUse()))
    return false;
  return consumer.getMatchingIndexingMap(operand).isPermutation() &&
         !linalg::isaContractionOpInterface(
             cast<linalg::LinalgOp>(consumer.getOperation()));
}

struct MergeElementwise : impl::MergeElementwiseBase<MergeElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldMerge);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::populateInlineConstantOperandsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
