//===- DecomposeBlocks.cpp - domain ops inside tiles ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Block/Passes.h"
#include "passes/Graph/Decompose.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_DECOMPOSEBLOCKS
#include "passes/Block/Passes.h.inc"

namespace {

struct DecomposeBlocks : impl::DecomposeBlocksBase<DecomposeBlocks> {
  using DecomposeBlocksBase::DecomposeBlocksBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    auto stays = [&](Operation *op) {
      if (!keepTileOps)
        return false;
      auto scatter = dyn_cast<block::ScatterOp>(op);
      return isa<block::BlockDialect>(op->getDialect()) &&
             !(scatter && scatter.getAccumulate());
    };
    if (failed(decomposeAll(getOperation(), stays)))
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
