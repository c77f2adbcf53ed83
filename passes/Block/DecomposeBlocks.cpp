//===- DecomposeBlocks.cpp - domain ops inside tiles ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Block/Passes.h"
#include "passes/Graph/Decompose.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_DECOMPOSEBLOCKS
#include "passes/Block/Passes.h.inc"

namespace {

struct DecomposeBlocks : impl::DecomposeBlocksBase<DecomposeBlocks> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateDecompositionPatterns(patterns, /*tileable=*/true);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    WalkResult left =
        getOperation()->walk([](linalg::AggregatedOpInterface op) {
          op.emitOpError("has no decomposition for these types");
          return WalkResult::interrupt();
        });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
