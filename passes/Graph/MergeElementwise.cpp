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
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/Passes.h"
#include <set>

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
      first.getNumLoops() == 0)
    return false;
  // Extents that are not known are those of something that both read.
  auto hasAllLoops = [](const Read &read) {
    return read.second.isPermutation();
  };
  if (first.hasDynamicShape() && llvm::none_of(readsOf(first), hasAllLoops))
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
    DenseMap<Operation *, unsigned> position;
    for (auto [i, op] : llvm::enumerate(ops))
      position[op] = i;
    for (unsigned i = 0; i < ops.size(); ++i) {
      if (ops[i].getInputs().empty())
        continue;
      // Only what reads the same can be joined.
      std::set<unsigned> later;
      for (Operation *user : ops[i].getInputs().front().getUsers())
        if (auto known = position.find(user);
            known != position.end() && known->second > i)
          later.insert(known->second);
      for (unsigned j : later) {
        llvm::SetVector<Operation *> between;
        if (!canJoin(ops[i], ops[j], between))
          continue;
        SmallVector<Operation *> inOrder = between.takeVector();
        llvm::sort(inOrder, [](Operation *a, Operation *b) {
          return a->isBeforeInBlock(b);
        });
        position.erase(ops[i]);
        position.erase(ops[j]);
        ops[j] = join(rewriter, ops[i], ops[j], inOrder);
        position[ops[j]] = j;
        break;
      }
    }
  });
}

/// Each step of a merge copies both bodies. Where a long chain grew by one op
/// at a time, its body would be copied as often as it has ops.
constexpr size_t longChain = 200;

/// Merges neighbours in pairs, then pairs with pairs, and so on, in blocks of
/// many ops. What is left is for the patterns.
LogicalResult mergeInPairs(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) {
    auto ops = block->getOps<linalg::GenericOp>();
    if (static_cast<size_t>(std::distance(ops.begin(), ops.end())) > longChain)
      blocks.push_back(block);
  });
  // An output that the body does not read is no second use of what it is.
  for (Block *block : blocks)
    for (auto op : block->getOps<linalg::GenericOp>())
      for (OpOperand &init : op.getDpsInitsMutable()) {
        auto type = dyn_cast<RankedTensorType>(init.get().getType());
        if (!type || !type.hasStaticShape() ||
            op.getNumParallelLoops() != op.getNumLoops() ||
            op.payloadUsesValueFromOperand(&init) ||
            init.get().getDefiningOp<tensor::EmptyOp>())
          continue;
        rewriter.setInsertionPoint(op);
        init.set(tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                         type.getElementType()));
      }
  for (Block *block : blocks)
    for (bool changed = true; changed;) {
      changed = false;
      DenseSet<Operation *> merged;
      for (linalg::GenericOp op :
           SmallVector<linalg::GenericOp>(block->getOps<linalg::GenericOp>())) {
        for (OpOperand *operand : op.getDpsInputOperands()) {
          Operation *producer = operand->get().getDefiningOp();
          if (!producer || producer->getBlock() != block ||
              merged.contains(producer) || !shouldMerge(operand) ||
              !linalg::areElementwiseOpsFusable(operand))
            continue;
          rewriter.setInsertionPoint(op);
          FailureOr<linalg::ElementwiseOpFusionResult> fused =
              linalg::fuseElementwiseOps(rewriter, operand);
          if (failed(fused))
            continue;
          // Who reads another result of the producer may stand in front of
          // here.
          for (auto [old, replacement] : fused->replacements)
            rewriter.replaceUsesWithIf(old, replacement, [&](OpOperand &use) {
              Operation *user = block->findAncestorOpInBlock(*use.getOwner());
              return user && fused->fusedOp->isBeforeInBlock(user);
            });
          merged.insert(fused->fusedOp);
          rewriter.eraseOp(op);
          if (producer->use_empty())
            rewriter.eraseOp(producer);
          changed = true;
          break;
        }
      }
      // Operands that both sides of a merge read become one.
      RewritePatternSet patterns(function.getContext());
      linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
      if (failed(applyPatternsGreedily(function, std::move(patterns))))
        return failure();
    }
  return success();
}

/// Reads what is spread along more dimensions, or one number for all elements,
/// where it is, instead of copies of it.
struct ReadSpread : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (staysAlone(op) || linalg::isaContractionOpInterface(
                              cast<linalg::LinalgOp>(op.getOperation())))
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> inputs = op.getInputs();
    bool changed = false;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      auto spread = input.getDefiningOp<linalg::BroadcastOp>();
      auto splat = input.getDefiningOp<tensor::SplatOp>();
      // A number that is computed may be one that derivatives are taken of.
      if (!spread && (!splat || !matchPattern(splat.getInput(), m_Constant())))
        continue;
      SmallVector<AffineExpr> kept;
      if (spread)
        for (auto [dim, expr] : llvm::enumerate(maps[i].getResults()))
          if (!llvm::is_contained(spread.getDimensions(),
                                  static_cast<int64_t>(dim)))
            kept.push_back(expr);
      AffineMap before = maps[i];
      maps[i] = AffineMap::get(before.getNumDims(), 0, kept, op.getContext());
      // Each loop's extent is that of some operand.
      if (!inversePermutation(concatAffineMaps(maps, op.getContext()))) {
        maps[i] = before;
        continue;
      }
      inputs[i] = spread ? spread.getInput() : splat.getInput();
      changed = true;
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(inputs);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};

struct MergeElementwise : impl::MergeElementwiseBase<MergeElementwise> {
  using MergeElementwiseBase::MergeElementwiseBase;

  void runOnOperation() override {
    {
      RewritePatternSet patterns(&getContext());
      patterns.add<ReadSpread>(&getContext());
      linalg::populateElementwiseToLinalgConversionPatterns(patterns);
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    if (failed(mergeInPairs(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadSpread>(&getContext());
    // To ask for an extent of a result is no second use of it.
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldMerge);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (!forDerivatives)
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
