//===- DistributeOps.cpp - large parallel ops become block programs -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Block/Inits.h"
#include "passes/Block/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_DISTRIBUTEOPS
#include "passes/Block/Passes.h.inc"

namespace {

struct DistributeOps : impl::DistributeOpsBase<DistributeOps> {
  using DistributeOpsBase::DistributeOpsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // In blocks, an argument that is updated in place would be copied whole
    // before the first of them, and its result after the last.
    IRRewriter rewriter(&getContext());
    for (auto generic : llvm::make_early_inc_range(
             getOperation().getBody().front().getOps<linalg::GenericOp>()))
      readInitsAsInputs(rewriter, generic, isFunctionArgument);
    SmallVector<linalg::LinalgOp> ops;
    for (Operation &op : getOperation().getBody().front())
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(&op))
        ops.push_back(linalgOp);
    for (linalg::LinalgOp op : ops)
      if (failed(distribute(op)))
        return signalPassFailure();
  }

  LogicalResult distribute(linalg::LinalgOp op) {
    // A fill belongs to the op that it initialises.
    if (op.hasDynamicShape() || isa<linalg::FillOp>(op.getOperation()))
      return success();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    int64_t iterations = 1;
    for (int64_t range : ranges)
      iterations *= range;
    if (iterations < minIterations)
      return success();
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    for (auto [loop, range] : llvm::enumerate(ranges)) {
      if (!linalg::isParallelIterator(iterators[loop]) || range == 1)
        continue;
      int64_t blocks = std::min<int64_t>(maxBlocks, range);
      while (range % blocks)
        --blocks;
      if (blocks == 1)
        continue;
      return tile(op, loop, range / blocks);
    }
    return success();
  }

  LogicalResult tile(linalg::LinalgOp op, unsigned loop, int64_t size) {
    IRRewriter rewriter(op);
    SmallVector<OpFoldResult> sizes(op.getNumLoops(), rewriter.getIndexAttr(0));
    sizes[loop] = rewriter.getIndexAttr(size);
    scf::SCFTilingOptions options;
    options.setTileSizes(sizes).setLoopType(
        scf::SCFTilingOptions::LoopType::ForallOp);
    FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
        rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return op->emitOpError("cannot be cut into blocks");
    rewriter.replaceOp(op, tiled->replacements);
    return success();
  }
};

} // namespace
} // namespace drawloom
