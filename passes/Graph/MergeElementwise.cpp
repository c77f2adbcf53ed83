//===- MergeElementwise.cpp - chains of elementwise ops become one op -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_MERGEELEMENTWISE
#include "passes/Graph/Passes.h.inc"

namespace {

/// What is known of an op's result would be lost in a larger op.
bool staysAlone(Operation *op) {
  return op && op->hasAttr(block::lowerTriangularAttr);
}

/// Whether the producer of `operand` should move into the op that reads it.
/// Only where that costs no recomputation, and never into a contraction: its
/// body must stay the bare product for the matrix tiles to recognise it.
/// A comparison is done again for each reader: in memory its result has no
/// vector form.
bool shouldMerge(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  bool comparison = getElementTypeOrSelf(operand->get().getType()).isInteger(1);
  if (!consumer || (!comparison && !operand->get().hasOneUse()) ||
      staysAlone(consumer) || staysAlone(operand->get().getDefiningOp()))
    return false;
  return consumer.getMatchingIndexingMap(operand).isPermutation() &&
         !linalg::isaContractionOpInterface(
             cast<linalg::LinalgOp>(consumer.getOperation()));
}

/// An operand and how the op reads it.
using Read = std::pair<Value, AffineMap>;

SmallVector<Read> readsOf(linalg::GenericOp op) {
  SmallVector<Read> reads;
  for (OpOperand *input : op.getDpsInputOperands())
    reads.push_back({input->get(), op.getMatchingIndexingMap(input)});
  return reads;
}

/// Whether `first`, an elementwise op, can be computed by the later `second` on
/// its way: it reads nothing that `second` does not read in the same order, and
/// `second` does not need its results.
bool canJoin(linalg::GenericOp first, linalg::GenericOp second,
             llvm::SetVector<Operation *> &between) {
  if (staysAlone(first) || staysAlone(second) ||
      first.getNumParallelLoops() != first.getNumLoops() ||
      first.getStaticLoopRanges() != second.getStaticLoopRanges() ||
      first.hasDynamicShape() || first.getNumLoops() == 0)
    return false;
  for (OpOperand &init : first.getDpsInitsMutable())
    if (first.payloadUsesValueFromOperand(&init))
      return false;
  // A mask in memory has no vector form; what reads nothing gains nothing.
  for (Type type : first.getResultTypes())
    if (getElementTypeOrSelf(type).isInteger(1))
      return false;
  SmallVector<Read> reads = readsOf(second);
  if (first.getInputs().empty() ||
      llvm::any_of(readsOf(first), [&](const Read &read) {
        return !llvm::is_contained(reads, read);
      }))
    return false;
  // What needs the first op moves behind the second.
  between.insert(first);
  for (unsigned i = 0; i < between.size(); ++i)
    for (Operation *user : between[i]->getUsers()) {
      Operation *here = second->getBlock()->findAncestorOpInBlock(*user);
      if (here == second.getOperation())
        return false;
      if (here && here->isBeforeInBlock(second))
        between.insert(here);
    }
  between.remove(first);
  return llvm::all_of(between, [](Operation *op) {
    return isMemoryEffectFree(op) && op->getNumRegions() == 0;
  });
}

linalg::GenericOp join(IRRewriter &rewriter, linalg::GenericOp first,
                       linalg::GenericOp second,
                       ArrayRef<Operation *> between) {
  SmallVector<Value> inputs = second.getInputs(), outputs = second.getOutputs();
  SmallVector<AffineMap> maps = second.getIndexingMapsArray();
  llvm::append_range(outputs, first.getOutputs());
  llvm::append_range(
      maps,
      ArrayRef(first.getIndexingMapsArray()).take_back(first.getNumDpsInits()));
  SmallVector<Type> types(second.getResultTypes());
  llvm::append_range(types, first.getResultTypes());
  rewriter.setInsertionPoint(second);
  // The inits of the first op stand before it, and so before the second.
  auto joined =
      linalg::GenericOp::create(rewriter, second.getLoc(), types, inputs,
                                outputs, maps, second.getIteratorTypesArray());
  Block *body = rewriter.createBlock(&joined.getRegion());
  for (Value operand : joined->getOperands())
    body->addArgument(getElementTypeOrSelf(operand.getType()),
                      operand.getLoc());
  SmallVector<Read> reads = readsOf(second);
  auto take = [&](linalg::GenericOp op, ArrayRef<Value> arguments) {
    IRMapping mapping;
    mapping.map(op.getBody()->getArguments(), arguments);
    for (Operation &inner : op.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    SmallVector<Value> values;
    for (Value value : op.getBody()->getTerminator()->getOperands())
      values.push_back(mapping.lookupOrDefault(value));
    return values;
  };
  SmallVector<Value> ofFirst,
      ofSecond(body->getArguments().take_front(second->getNumOperands()));
  for (const Read &read : readsOf(first))
    ofFirst.push_back(body->getArgument(
        std::distance(reads.begin(), llvm::find(reads, read))));
  llvm::append_range(ofFirst,
                     body->getArguments().take_back(first.getNumDpsInits()));
  SmallVector<Value> early = take(first, ofFirst);
  SmallVector<Value> yielded = take(second, ofSecond);
  llvm::append_range(yielded, early);
  linalg::YieldOp::create(rewriter, second.getLoc(), yielded);

  ResultRange results = joined->getResults();
  Operation *last = joined;
  for (Operation *op : between) {
    op->moveAfter(last);
    last = op;
  }
  rewriter.replaceOp(second, results.take_front(second->getNumResults()));
  rewriter.replaceOp(first, results.take_back(first->getNumResults()));
  return joined;
}

/// An activation and its derivative, say, of which both results are wanted.
void joinSiblings(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](Block *block) {
    SmallVector<linalg::GenericOp> ops(block->getOps<linalg::GenericOp>());
    for (unsigned i = 0; i < ops.size(); ++i)
      for (unsigned j = i + 1; j < ops.size(); ++j) {
        llvm::SetVector<Operation *> between;
        if (!canJoin(ops[i], ops[j], between))
          continue;
        SmallVector<Operation *> inOrder = between.takeVector();
        llvm::sort(inOrder, [](Operation *a, Operation *b) {
          return a->isBeforeInBlock(b);
        });
        ops[j] = join(rewriter, ops[i], ops[j], inOrder);
        break;
      }
  });
}

struct MergeElementwise : impl::MergeElementwiseBase<MergeElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldMerge);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::populateInlineConstantOperandsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    joinSiblings(getOperation());
  }
};

} // namespace
} // namespace drawloom
