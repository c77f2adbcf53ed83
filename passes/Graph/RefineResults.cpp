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

/// The value behind a cast from a more specific type, or none.
Value knownSourceOf(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && cast.getType() != cast.getSource().getType() &&
                 tensor::preservesStaticInformation(cast.getType(),
                                                    cast.getSource().getType())
             ? cast.getSource()
             : Value();
}

/// Gives `value`, an argument of a block or a result, the type `known`; who
/// reads it gets a cast, at the place where `rewriter` stands.
void refine(PatternRewriter &rewriter, Value value, Type known) {
  Type old = value.getType();
  value.setType(known);
  auto cast = tensor::CastOp::create(rewriter, value.getLoc(), old, value);
  rewriter.replaceAllUsesExcept(value, cast, cast);
}

/// A loop that starts from a cast from a more specific type carries that type.
/// Upstream's pattern leaves a loop alone whose result has several uses.
struct RefineLoops : OpInterfaceRewritePattern<LoopLikeOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(LoopLikeOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto counted = dyn_cast<scf::ForOp>(op.getOperation());
    auto loop = dyn_cast<scf::WhileOp>(op.getOperation());
    if (!counted && !loop)
      return failure();
    bool changes = false;
    for (unsigned i = 0; i < op.getInits().size(); ++i) {
      OpOperand &init = op.getInitsMutable()[i];
      Value start = knownSourceOf(init.get());
      if (!start)
        continue;
      rewriter.modifyOpInPlace(op, [&] { init.set(start); });
      Value carried = op.getRegionIterArgs()[i];
      rewriter.setInsertionPointToStart(carried.getParentBlock());
      refine(rewriter, carried, start.getType());
      Operation *terminator =
          counted ? counted.getBody()->getTerminator() : loop.getYieldOp();
      OpOperand &next = terminator->getOpOperand(i);
      rewriter.setInsertionPoint(terminator);
      Value given = tensor::CastOp::create(rewriter, op.getLoc(),
                                           start.getType(), next.get());
      rewriter.modifyOpInPlace(terminator, [&] { next.set(given); });
      if (counted) {
        rewriter.setInsertionPointAfter(op);
        refine(rewriter, counted.getResult(i), start.getType());
      }
      changes = true;
    }
    // What a scf.while gives is what its condition forwards.
    for (unsigned i = 0; loop && i < loop.getNumResults(); ++i) {
      OpOperand &forwarded = loop.getConditionOp().getArgsMutable()[i];
      Value source = knownSourceOf(forwarded.get());
      if (!source)
        continue;
      rewriter.modifyOpInPlace(loop.getConditionOp(),
                               [&] { forwarded.set(source); });
      rewriter.setInsertionPointToStart(loop.getAfterBody());
      refine(rewriter, loop.getAfterArguments()[i], source.getType());
      rewriter.setInsertionPointAfter(op);
      refine(rewriter, loop.getResult(i), source.getType());
      changes = true;
    }
    return success(changes);
  }
};

/// What is known of the parts of a concatenation is known of the whole.
struct RefineConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value part : op.getInputs()) {
      Value known = knownSourceOf(part);
      parts.push_back(known ? known : part);
    }
    RankedTensorType known = tensor::ConcatOp::inferResultType(
        op.getDim(), llvm::to_vector(TypeRange(ValueRange(parts))));
    RankedTensorType old = op.getType();
    if (known == old || !tensor::preservesStaticInformation(old, known))
      return failure();
    Value whole = tensor::ConcatOp::create(rewriter, op.getLoc(), known,
                                           op.getDim(), parts);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, old, whole);
    return success();
  }
};

struct RefineResults : impl::RefineResultsBase<RefineResults> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // What is known of a branch shows in ops behind it, and in loops and
    // branches around it.
    RewritePatternSet patterns(&getContext());
    patterns.add<RefineBranches, RefineConcat, RefineLoops>(&getContext());
    for (RegisteredOperationName op : getContext().getRegisteredOperations())
      if (isa<tensor::TensorDialect>(op.getDialect()))
        op.getCanonicalizationPatterns(patterns, &getContext());
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
