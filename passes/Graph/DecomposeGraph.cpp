//===- DecomposeGraph.cpp - domain ops to structured ops ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Interfaces/MachineFacts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_DECOMPOSEGRAPH
#include "passes/Graph/Passes.h.inc"

namespace {

struct DecomposeGraph : impl::DecomposeGraphBase<DecomposeGraph> {
  using DecomposeGraphBase::DecomposeGraphBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    // Of what has open extents only block programs are known.
    auto hasKnownExtents = [](Operation *op) {
      return llvm::all_of(op->getOperandTypes(), [](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        return !shaped || shaped.hasStaticShape();
      });
    };
    // What is in a block program already is its target's to decompose, what is
    // in the region of another op is that one's, and what may be computed in
    // others is left for `fuse-into-blocks`.
    auto stays = [&](Operation *op) {
      return isa<TilingInterface>(op) ||
             (isa<BlockFusionOpInterface>(op) && hasKnownExtents(op)) ||
             op->getParentOfType<scf::ForallOp>() ||
             op->getParentOfType<linalg::AggregatedOpInterface>();
    };
    MachineFacts given = {processors, blockBytes, productRows, savedBytes,
                          lockstep};
    MachineFacts facts = machineFactsOf(getOperation(), given);
    // Blocks may have to be smaller than the program knows.
    if (given.blockBytes > 0 && facts.blockBytes > 0)
      facts.blockBytes = std::min(facts.blockBytes, given.blockBytes);
    ScopedMachineFacts scope(getOperation(), facts);
    if (failed(decomposeAll(getOperation(), stays)))
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
