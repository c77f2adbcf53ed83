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

/// A loop that starts from a cast from a more specific type carries that type.
/// Upstream's pattern leaves a loop alone whose result has several uses.
struct RefineLoops : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op,
                                PatternRewriter &rewriter) const override {
    bool changes = false;
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      OpOperand &init = op.getInitArgsMutable()[i];
      auto start = init.get().getDefiningOp<tensor::CastOp>();
      if (!start || !tensor::preservesStaticInformation(
                        start.getType(), start.getSource().getType()))
        continue;
      Type old = start.getType(), known = start.getSource().getType();
      if (old == known)
        continue;
      BlockArgument carried = op.getRegionIterArg(i);
      OpResult result = op->getResult(i);
      OpOperand &next = op.getBody()->getTerminator()->getOpOperand(i);
      rewriter.modifyOpInPlace(op, [&] {
        init.set(start.getSource());
        carried.setType(known);
        result.setType(known);
      });
      rewriter.setInsertionPointToStart(op.getBody());
      auto inside = tensor::CastOp::create(rewriter, op.getLoc(), old, carried);
      rewriter.replaceAllUsesExcept(carried, inside, inside);
      rewriter.setInsertionPoint(next.getOwner());
      Value given =
          tensor::CastOp::create(rewriter, op.getLoc(), known, next.get());
      rewriter.modifyOpInPlace(next.getOwner(), [&] { next.set(given); });
      rewriter.setInsertionPointAfter(op);
      auto behind = tensor::CastOp::create(rewriter, op.getLoc(), old, result);
      rewriter.replaceAllUsesExcept(result, behind, behind);
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
    patterns.add<RefineBranches, RefineLoops>(&getContext());
    tensor::CastOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    for (StringRef name : {linalg::LinalgDialect::getDialectNamespace(),
                           tensor::TensorDialect::getDialectNamespace()})
      if (Dialect *dialect = getContext().getLoadedDialect(name))
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
