//===- RefineResults.cpp - return what is known about shapes --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_REFINERESULTS
#include "passes/Graph/Passes.h.inc"

namespace {

/// A branch that yields casts from one more specific type has results of that
/// type.
struct RefineBranches : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    auto sourceOf = [](Value value) -> Value {
      auto cast = value.getDefiningOp<tensor::CastOp>();
      return cast && tensor::preservesStaticInformation(
                         cast.getType(), cast.getSource().getType())
                 ? cast.getSource()
                 : value;
    };
    bool changes = false;
    for (OpResult result : op.getResults()) {
      unsigned i = result.getResultNumber();
      Value yes = sourceOf(op.thenYield().getOperand(i)),
            no = sourceOf(op.elseYield().getOperand(i));
      Type old = result.getType();
      if (yes.getType() != no.getType() || yes.getType() == old)
        continue;
      rewriter.modifyOpInPlace(op, [&] { result.setType(yes.getType()); });
      rewriter.modifyOpInPlace(op.thenYield(),
                               [&] { op.thenYield().setOperand(i, yes); });
      rewriter.modifyOpInPlace(op.elseYield(),
                               [&] { op.elseYield().setOperand(i, no); });
      rewriter.setInsertionPointAfter(op);
      auto cast = tensor::CastOp::create(rewriter, op.getLoc(), old, result);
      rewriter.replaceAllUsesExcept(result, cast, cast);
      changes = true;
    }
    return success(changes);
  }
};

struct RefineResults : impl::RefineResultsBase<RefineResults> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // What is known of a branch shows in ops behind it, and in loops and
    // branches around it.
    RewritePatternSet patterns(&getContext());
    patterns.add<RefineBranches>(&getContext());
    tensor::CastOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    linalg::LinalgDialect *dialect =
        getContext().getLoadedDialect<linalg::LinalgDialect>();
    if (dialect)
      dialect->getCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return signalPassFailure();
    // A private function has callers, which rely on its type.
    if (function.isPrivate() || function.isExternal() ||
        !function.getBody().hasOneBlock())
      return;
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto cast = operand.get().getDefiningOp<tensor::CastOp>())
        if (tensor::preservesStaticInformation(cast.getType(),
                                               cast.getSource().getType()))
          operand.set(cast.getSource());
    function.setType(FunctionType::get(&getContext(),
                                       function.getArgumentTypes(),
                                       terminator->getOperandTypes()));
  }
};

} // namespace
} // namespace drawloom
