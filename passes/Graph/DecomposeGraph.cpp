//===- DecomposeGraph.cpp - domain ops to structured ops ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_DECOMPOSEGRAPH
#include "passes/Graph/Passes.h.inc"

namespace {

struct DecomposeGraph : impl::DecomposeGraphBase<DecomposeGraph> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateDecompositionPatterns(patterns, /*tileable=*/false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    WalkResult left =
        getOperation()->walk([](linalg::AggregatedOpInterface op) {
          if (isa<TilingInterface>(op.getOperation()))
            return WalkResult::advance();
          op.emitOpError("has no decomposition for these types");
          return WalkResult::interrupt();
        });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
