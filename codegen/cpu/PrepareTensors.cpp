//===- PrepareTensors.cpp - tensor programs ready for tiling --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PrepareTensors.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {

void addCanonicalizationPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
}

namespace {

struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!type.hasStaticShape())
      return failure();
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

/// Only what is said as a contraction becomes multiply-adds.
struct GenericToContract : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!linalg::isaContractionOpInterface(cast<LinalgOp>(op.getOperation())) ||
        op.getNumResults() != 1)
      return failure();
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(cast<LinalgOp>(op.getOperation()));
    if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
      return failure();
    // linalg.contract multiplies in the result's type. A body that does it in
    // another one says something else.
    Type element = getElementTypeOrSelf(op.getResultTypes()[0]);
    Operation *multiply = nullptr;
    for (Operation &inner : *op.getBody())
      if (isa<arith::MulFOp, arith::MulIOp>(inner))
        multiply = &inner;
    if (!multiply || multiply->getResult(0).getType() != element)
      return failure();
    // The same for unsigned extensions, which contract does not have by
    // default.
    for (Operation &inner : *op.getBody())
      if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::SIToFPOp>(inner))
        return failure();
    rewriter.replaceOpWithNewOp<linalg::ContractOp>(
        op, op.getResultTypes(), op.getInputs(), op.getOutputs(),
        op.getIndexingMapsAttr());
    return success();
  }
};

/// Ops that are decomposed as a whole.
struct DecomposeAggregated
    : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

bool isDot(Operation *op) {
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (!linalgOp || !linalg::isaContractionOpInterface(linalgOp))
    return false;
  auto dims = linalg::inferContractionDims(linalgOp);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty() &&
         !dims->k.empty();
}

/// One class of op for the scheduler: named ops other than fills and dots
/// become generic.
void generalizeNamedOps(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<LinalgOp> named;
  function.walk([&](LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op) && !isDot(op))
      named.push_back(op);
  });
  for (LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    // What has no generic form is left; it becomes scalar loops.
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// Equal fills are merged by CSE and hoisted; bufferization would then keep one
/// filled buffer and copy it for each reader. Gives each reader its own.
void giveReadersTheirFill(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::FillOp> fills;
  function.walk([&](linalg::FillOp fill) { fills.push_back(fill); });
  for (linalg::FillOp fill : fills) {
    auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    bool movable =
        empty || fill.getOutputs()[0].getDefiningOp<tensor::ExtractSliceOp>();
    for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
      auto reader = dyn_cast<LinalgOp>(use.getOwner());
      if (!reader || !reader.isDpsInit(&use))
        continue;
      if (!movable && fill->hasOneUse())
        continue;
      rewriter.setInsertionPoint(reader);
      IRMapping mapping;
      if (empty)
        mapping.map(empty.getResult(), rewriter.clone(*empty)->getResult(0));
      rewriter.modifyOpInPlace(reader, [&] {
        use.set(rewriter.clone(*fill, mapping)->getResult(0));
      });
    }
    if (fill->use_empty())
      rewriter.eraseOp(fill);
  }
}

/// Turns an init that the body reads into an input where updating it in place
/// would cost more: an argument of the function is not to be written, so that
/// all of it would be copied first; a dot's result is best read from registers.
void readInitsAsInputs(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    if (op.getNumParallelLoops() != op.getNumLoops() || op.getNumLoops() == 0)
      continue;
    SmallVector<Value> inputs = op.getInputs(), outputs = op.getOutputs();
    SmallVector<AffineMap> inputMaps, outputMaps;
    SmallVector<unsigned> moved;
    for (OpOperand &operand : op->getOpOperands())
      (op.isDpsInit(&operand) ? outputMaps : inputMaps)
          .push_back(op.getMatchingIndexingMap(&operand));
    rewriter.setInsertionPoint(op);
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value value = init.get();
      bool argument = isa<BlockArgument>(value) &&
                      isa<func::FuncOp>(value.getParentRegion()->getParentOp());
      bool dot = value.getDefiningOp() && isDot(value.getDefiningOp()) &&
                 value.hasOneUse();
      if (!op.payloadUsesValueFromOperand(&init) || !(argument || dot))
        continue;
      auto type = cast<RankedTensorType>(value.getType());
      inputs.push_back(value);
      inputMaps.push_back(outputMaps[i]);
      outputs[i] = tensor::EmptyOp::create(
          rewriter, op.getLoc(), type.getShape(), type.getElementType());
      moved.push_back(i);
    }
    if (moved.empty())
      continue;
    unsigned oldInputs = op.getNumDpsInputs();
    inputMaps.append(outputMaps);
    auto replacement = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), inputs, outputs, inputMaps,
        op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), replacement.getRegion(),
                                replacement.getRegion().begin());
    Block &body = replacement.getRegion().front();
    for (auto [n, i] : llvm::enumerate(moved)) {
      Type element = getElementTypeOrSelf(outputs[i].getType());
      Value input = body.insertArgument(oldInputs + n, element, op.getLoc());
      body.getArgument(oldInputs + n + 1 + i).replaceAllUsesWith(input);
    }
    rewriter.replaceOp(op, replacement.getResults());
  }
}

bool isFunctionArgument(Value value) {
  return isa<BlockArgument>(value) &&
         isa<func::FuncOp>(value.getParentRegion()->getParentOp());
}

/// An init that the body does not read says only where the result goes. One
/// that another op computes would be kept alive for nothing; one that is also
/// read as an input, or is an argument of the function, would be copied.
void freeUnreadInits(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](LinalgOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op.payloadUsesValueFromOperand(&init))
        continue;
      bool input = llvm::is_contained(op.getDpsInputs(), init.get());
      if (!init.get().getDefiningOp<LinalgOp>() && !input &&
          !isFunctionArgument(init.get()))
        continue;
      // A reduction keeps the init where it runs over nothing.
      if (op.getNumParallelLoops() != op.getNumLoops())
        continue;
      auto type = cast<RankedTensorType>(init.get().getType());
      rewriter.setInsertionPoint(op);
      Value empty = tensor::EmptyOp::create(
          rewriter, op.getLoc(), type.getShape(), type.getElementType());
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
    }
  });
}

/// tensor.concat: its producers write straight into their part of the result.
void forwardConcat(RewriterBase &rewriter, tensor::ConcatOp op) {
  RankedTensorType type = op.getResultType();
  Location loc = op.getLoc();
  Operation *first = op;
  for (Value input : op.getInputs())
    if (Operation *def = input.getDefiningOp();
        def && def->getBlock() == op->getBlock() && def->isBeforeInBlock(first))
      first = def;
  // Not a tensor.empty: its slices would get buffers of their own again.
  rewriter.setInsertionPoint(first);
  Value current =
      bufferization::AllocTensorOp::create(rewriter, loc, type, ValueRange{});
  Operation *last = first;
  int64_t at = 0;
  for (Value input : op.getInputs()) {
    auto part = cast<RankedTensorType>(input.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(rewriter.getContext(), part.getShape());
    offsets[op.getDim()] = rewriter.getIndexAttr(at);
    at += part.getDimSize(op.getDim());
    auto producer = input.getDefiningOp<LinalgOp>();
    if (producer && producer->getBlock() == op->getBlock() &&
        producer->getNumResults() == 1 && input.hasOneUse() &&
        producer.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() &&
        (producer == last || last->isBeforeInBlock(producer))) {
      rewriter.setInsertionPoint(producer);
      Value slice = tensor::ExtractSliceOp::create(rewriter, loc, part, current,
                                                   offsets, sizes, strides);
      rewriter.modifyOpInPlace(
          producer, [&] { producer.getDpsInitsMutable()[0].set(slice); });
      rewriter.setInsertionPointAfter(producer);
    } else {
      rewriter.setInsertionPoint(op);
    }
    auto insert = tensor::InsertSliceOp::create(rewriter, loc, input, current,
                                                offsets, sizes, strides);
    current = insert;
    last = insert;
  }
  rewriter.replaceOp(op, current);
}

/// A dot reads one operand along the result's rows. Where that operand runs
/// along the inner dimension instead, it is transposed first, outside all loops
/// that do not change it.
void transposeDotOperands(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<LinalgOp> dots;
  function.walk([&](LinalgOp op) {
    if (isDot(op))
      dots.push_back(op);
  });
  for (LinalgOp op : dots) {
    AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    auto last = dyn_cast<AffineDimExpr>(out.getResult(out.getNumResults() - 1));
    if (!last)
      continue;
    unsigned column = last.getPosition();
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      unsigned rank = map.getNumResults();
      if (!map.isFunctionOfDim(column) || !map.isProjectedPermutation() ||
          cast<AffineDimExpr>(map.getResult(rank - 1)).getPosition() == column)
        continue;
      SmallVector<int64_t> permutation;
      int64_t at = -1;
      for (unsigned i = 0; i < rank; ++i)
        if (cast<AffineDimExpr>(map.getResult(i)).getPosition() == column)
          at = i;
        else
          permutation.push_back(i);
      permutation.push_back(at);

      Value source = input->get();
      Operation *point = op;
      // Through slices that cut nothing of a loop's variables.
      while (Operation *parent = point->getParentOp()) {
        if (isa<func::FuncOp>(parent) ||
            parent->isAncestor(source.getParentBlock()->getParentOp()))
          break;
        if (!isa<scf::ForOp, scf::ForallOp>(parent))
          break;
        point = parent;
      }
      rewriter.setInsertionPoint(point);
      auto type = cast<RankedTensorType>(source.getType());
      SmallVector<int64_t> shape =
          applyPermutation(type.getShape(), permutation);
      Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), shape,
                                            type.getElementType());
      Value transposed = linalg::TransposeOp::create(rewriter, op.getLoc(),
                                                     source, empty, permutation)
                             ->getResult(0);
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      AffineMap newMap = AffineMap::get(
          map.getNumDims(), 0, applyPermutation(map.getResults(), permutation),
          rewriter.getContext());
      maps[input->getOperandNumber()] = newMap;
      rewriter.setInsertionPoint(op);
      SmallVector<Value> inputs = op.getDpsInputs();
      inputs[input->getOperandNumber()] = transposed;
      auto contract = linalg::ContractOp::create(
          rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
          rewriter.getAffineMapArrayAttr(maps));
      rewriter.replaceOp(op, contract->getResults());
      break;
    }
  }
}

} // namespace

LogicalResult prepareTensors(RewriterBase &rewriter, func::FuncOp function) {
  MLIRContext *context = function.getContext();
  {
    RewritePatternSet patterns(context);
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    linalg::populateConvertToDestinationStylePatterns(patterns);
    patterns.add<SplatToFill, GenericToContract, DecomposeAggregated>(context);
    addCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return failure();
  }
  transposeDotOperands(rewriter, function);
  generalizeNamedOps(rewriter, function);
  readInitsAsInputs(rewriter, function);
  freeUnreadInits(rewriter, function);
  giveReadersTheirFill(rewriter, function);
  SmallVector<tensor::ConcatOp> concats;
  function.walk([&](tensor::ConcatOp op) { concats.push_back(op); });
  for (tensor::ConcatOp op : concats)
    forwardConcat(rewriter, op);
  return success();
}

} // namespace drawloom::cpu
