//===- RgnnCanonicalization.cpp - what nobody reads -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace drawloom::rgnn {

namespace {
/// A traverse without the results that have no reader, without what only these
/// needed, and without inputs that the region does not read.
struct DropUnused : OpRewritePattern<TraverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TraverseOp op,
                                PatternRewriter &rewriter) const override;
};
/// A sum of narrow rows that is rounded to their type has that type: rows are
/// added in the type to compute in, and the sum is rounded once.
struct RoundToRows : OpRewritePattern<TraverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TraverseOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

/// Erases ops of the block that nobody reads.
static void eraseUnread(PatternRewriter &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

LogicalResult DropUnused::matchAndRewrite(TraverseOp op,
                                          PatternRewriter &rewriter) const {
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (!op.getResult(i).use_empty())
      kept.push_back(i);
  // Without a reader at all it is dead.
  if (kept.empty())
    return failure();
  Block &body = op.getBody().front();
  bool unused = llvm::any_of(body.getArguments(), [](BlockArgument argument) {
    return argument.use_empty();
  });
  if (kept.size() == op.getNumResults() && !unused)
    return failure();

  SmallVector<Value> rows;
  SmallVector<Type> types;
  SmallVector<int32_t> to, by;
  for (unsigned i : kept) {
    rows.push_back(body.getTerminator()->getOperand(i));
    types.push_back(op.getResult(i).getType());
    to.push_back(op.getTo()[i]);
    by.push_back(op.getBy()[i]);
  }
  rewriter.modifyOpInPlace(body.getTerminator(),
                           [&] { body.getTerminator()->setOperands(rows); });
  eraseUnread(rewriter, body);
  SmallVector<Value> inputs;
  SmallVector<int32_t> at;
  llvm::BitVector gone(body.getNumArguments());
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (body.getArgument(i).use_empty()) {
      gone.set(i);
      continue;
    }
    inputs.push_back(input);
    at.push_back(op.getAt()[i]);
  }
  body.eraseArguments(gone);
  auto less = TraverseOp::create(rewriter, op.getLoc(), types, op.getGraph(),
                                 inputs, op.getOver(), at, to, by);
  rewriter.inlineRegionBefore(op.getBody(), less.getBody(),
                              less.getBody().end());
  for (auto [i, result] : llvm::zip_equal(kept, less.getResults()))
    rewriter.replaceAllUsesWith(op.getResult(i), result);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult RoundToRows::matchAndRewrite(TraverseOp op,
                                           PatternRewriter &rewriter) const {
  Operation *yield = op.getBody().front().getTerminator();
  for (OpResult result : op.getResults()) {
    if (!result.hasOneUse())
      continue;
    auto rounded = dyn_cast<arith::TruncFOp>(*result.user_begin());
    OpOperand &row = yield->getOpOperand(result.getResultNumber());
    auto widened = row.get().getDefiningOp<arith::ExtFOp>();
    if (!rounded || rounded.getRoundingmodeAttr() || !widened ||
        getElementTypeOrSelf(rounded.getType()) !=
            getElementTypeOrSelf(widened.getIn().getType()) ||
        computeType(getElementTypeOrSelf(rounded.getType())) !=
            getElementTypeOrSelf(result.getType()))
      continue;
    rewriter.modifyOpInPlace(yield, [&] { row.set(widened.getIn()); });
    rewriter.modifyOpInPlace(op, [&] { result.setType(rounded.getType()); });
    rewriter.replaceOp(rounded, result);
    return success();
  }
  return failure();
}

void TraverseOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<DropUnused, RoundToRows>(context);
}

} // namespace drawloom::rgnn
