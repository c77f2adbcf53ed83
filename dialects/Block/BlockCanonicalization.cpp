//===- BlockCanonicalization.cpp - loops of one block, zeros --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace drawloom::block {

bool isZeros(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_PosZeroFloat()) ||
                  matchPattern(fill.getInputs()[0], m_Zero()));
}

namespace {

/// A loop of one iteration is its body. Upstream has this pattern too, but
/// takes the n-th insert for the n-th result (scf::promote): it drops the
/// second of two inserts into one result, and exchanges results where inserts
/// have another order. So this one comes first for such loops.
struct InlineSingleBlock : OpRewritePattern<scf::ForallOp> {
  explicit InlineSingleBlock(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(scf::ForallOp loop,
                                PatternRewriter &rewriter) const override {
    for (auto [lower, upper, step] :
         llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                   loop.getMixedStep())) {
      std::optional<int64_t> first = getConstantIntValue(lower),
                             end = getConstantIntValue(upper),
                             by = getConstantIntValue(step);
      if (!first || !end || !by || *by <= 0 || *first >= *end ||
          *first + *by < *end)
        return failure();
    }
    SmallVector<tensor::ParallelInsertSliceOp> inserts;
    bool inOrder = true;
    for (Operation &op : loop.getTerminator().getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
      if (!insert)
        return failure();
      OpOperand *output =
          loop.getTiedOpOperand(cast<BlockArgument>(insert.getDest()));
      inOrder &= inserts.size() < loop.getNumResults() &&
                 loop.getTiedOpResult(output) ==
                     loop.getResult(static_cast<unsigned>(inserts.size()));
      inserts.push_back(insert);
    }
    if (inOrder && inserts.size() == loop.getNumResults())
      return failure();

    Location loc = loop.getLoc();
    SmallVector<Value> arguments;
    for (OpFoldResult lower : loop.getMixedLowerBound())
      arguments.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, lower));
    llvm::append_range(arguments, loop.getOutputs());
    SmallVector<Value> results(loop.getOutputs());
    rewriter.setInsertionPoint(loop);
    // Behind the body, one insert after another.
    SmallVector<std::pair<unsigned, tensor::ParallelInsertSliceOp>> order;
    for (tensor::ParallelInsertSliceOp insert : inserts) {
      OpOperand *output =
          loop.getTiedOpOperand(cast<BlockArgument>(insert.getDest()));
      order.push_back({loop.getTiedOpResult(output).getResultNumber(), insert});
    }
    scf::InParallelOp terminator = loop.getTerminator();
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.setInsertionPoint(loop);
    for (auto [number, insert] : order)
      results[number] = tensor::InsertSliceOp::create(
          rewriter, insert.getLoc(), insert.getSource(), results[number],
          insert.getMixedOffsets(), insert.getMixedSizes(),
          insert.getMixedStrides());
    rewriter.eraseOp(terminator);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

/// Any row of zeros, and that of no index, is zeros.
struct GatherZeros : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp gather,
                                PatternRewriter &rewriter) const override {
    if (!isZeros(gather.getSource()))
      return failure();
    auto fill = gather.getSource().getDefiningOp<linalg::FillOp>();
    rewriter.replaceOpWithNewOp<linalg::FillOp>(gather, fill.getInputs(),
                                                gather.getInit());
    return success();
  }
};

} // namespace

void BlockDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<GatherZeros, InlineSingleBlock>(getContext());
}

} // namespace drawloom::block
