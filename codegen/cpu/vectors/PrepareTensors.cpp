//===- PrepareTensors.cpp - tensor programs ready for tiling --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/PrepareTensors.h"
#include "codegen/cpu/vectors/Canonicalize.h"
#include "codegen/cpu/vectors/HalfPrecisionDots.h"
#include "codegen/cpu/vectors/PackPanels.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Block/Inits.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {

/// The loop along which an operand lies in memory, if it is a plain one.
static std::optional<unsigned> lastLoop(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1));
  return last ? std::optional(last.getPosition()) : std::nullopt;
}

bool isNarrowDot(LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::optional<unsigned> column = lastLoop(maps[2]);
  // Four columns are half a vector of AVX2.
  if (!column || op.getStaticLoopRanges()[*column] >= 4)
    return false;
  std::optional<unsigned> other =
      lastLoop(maps[maps[0].isFunctionOfDim(*column) ? 1 : 0]);
  return other &&
         op.getIteratorTypesArray()[*other] == utils::IteratorType::parallel;
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
    // A product of the operands as they are; unsigned extensions contract does
    // not have by default.
    for (Operation &inner : *op.getBody())
      if (!isa<arith::MulFOp, arith::MulIOp, arith::AddFOp, arith::AddIOp,
               arith::ExtFOp, arith::ExtSIOp, linalg::YieldOp>(inner))
        return failure();
    // Each loop in two of the three operands.
    SmallVector<int> uses(op.getNumLoops());
    for (AffineMap map : op.getIndexingMapsArray())
      for (AffineExpr result : map.getResults())
        ++uses[cast<AffineDimExpr>(result).getPosition()];
    if (llvm::any_of(uses, [](int n) { return n < 2; }))
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
  // A generic op that has not become a contraction by now says something else.
  if (!linalgOp || isa<linalg::GenericOp>(op) ||
      !linalg::isaContractionOpInterface(linalgOp))
    return false;
  auto dims = linalg::inferContractionDims(linalgOp);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty() &&
         !dims->k.empty();
}

/// A constant of one repeated value becomes a fill where it is large: as data
/// of the machine code it would be written out element by element.
void fillLargeSplats(RewriterBase &rewriter, func::FuncOp function) {
  constexpr int64_t mostElements = 1024;
  SmallVector<arith::ConstantOp> constants;
  function.walk([&](arith::ConstantOp op) {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (splat && isa<RankedTensorType>(op.getType()) &&
        splat.getNumElements() > mostElements)
      constants.push_back(op);
  });
  for (arith::ConstantOp op : constants) {
    rewriter.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(op.getType());
    auto splat = cast<SplatElementsAttr>(op.getValue());
    Value value = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            splat.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, empty);
  }
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
/// filled buffer and copy it for each reader. Where that buffer is the memory
/// of one of the function's results, a result that was computed in it would
/// even be overwritten by its neighbour. Gives each reader, be it a loop, its
/// own.
void giveReadersTheirFill(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::FillOp> fills;
  function.walk([&](linalg::FillOp fill) { fills.push_back(fill); });
  for (linalg::FillOp fill : fills) {
    auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    bool movable =
        empty || fill.getOutputs()[0].getDefiningOp<tensor::ExtractSliceOp>();
    for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
      auto reader = dyn_cast<LinalgOp>(use.getOwner());
      bool isLoop = isa<scf::ForOp, scf::ForallOp>(use.getOwner());
      if (!isLoop && (!reader || !reader.isDpsInit(&use)))
        continue;
      if ((isLoop || !movable) && fill->hasOneUse())
        continue;
      rewriter.setInsertionPoint(use.getOwner());
      IRMapping mapping;
      if (empty)
        mapping.map(empty.getResult(), rewriter.clone(*empty)->getResult(0));
      rewriter.modifyOpInPlace(use.getOwner(), [&] {
        use.set(rewriter.clone(*fill, mapping)->getResult(0));
      });
    }
    if (fill->use_empty())
      rewriter.eraseOp(fill);
  }
}

/// Turns an init that the body reads into an input where updating it in place
/// would cost more: an argument of the function would be copied first; a dot's
/// result is best read from registers.
void readCostlyInits(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops)
    readInitsAsInputs(rewriter, op, [](Value init) {
      bool dot = init.getDefiningOp() && isDot(init.getDefiningOp()) &&
                 init.hasOneUse();
      return dot || isFunctionArgument(init);
    });
}

/// An init that the body does not read says only where the result goes. One
/// that another op computes would be kept alive for nothing; one that is also
/// read as an input, or is an argument of the function, would be copied.
void freeUnreadInits(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](LinalgOp op) {
    if (op.hasDynamicShape())
      return;
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

/// A block's result that is computed in another shape than it is stored in
/// would get memory of its own and be copied: bufferization sees a tensor.empty
/// only behind values of one type. Computes it in a reshaped part of the whole.
template <typename InsertOp>
void computeInPlace(RewriterBase &rewriter, InsertOp op) {
  auto collapse =
      op.getSource().template getDefiningOp<tensor::CollapseShapeOp>();
  auto producer = collapse
                      ? collapse.getSrc().template getDefiningOp<LinalgOp>()
                      : LinalgOp();
  if (!producer)
    return;
  OpOperand *init = producer.getDpsInitOperand(
      cast<OpResult>(collapse.getSrc()).getResultNumber());
  Operation *insert = op;
  if constexpr (std::is_same_v<InsertOp, tensor::ParallelInsertSliceOp>)
    insert = op->getParentOp();
  if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
      producer->getBlock() != insert->getBlock() ||
      llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
        Operation *def = operand.get().getDefiningOp();
        return &operand != &op.getSourceMutable() && def &&
               def->getBlock() == producer->getBlock() &&
               !def->isBeforeInBlock(producer);
      }))
    return;
  rewriter.setInsertionPoint(producer);
  Value part = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), op.getSourceType(), op.getDest(),
      op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides());
  Value reshaped = tensor::ExpandShapeOp::create(
      rewriter, op.getLoc(), collapse.getSrcType(), part,
      collapse.getReassociationIndices());
  rewriter.modifyOpInPlace(producer, [&] { init->set(reshaped); });
}

/// A number that a body reads at one place is read before it: bodies that read
/// tensors are not vectorized.
void readScalarsOutside(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    for (auto extract :
         llvm::make_early_inc_range(op.getBody()->getOps<tensor::ExtractOp>()))
      if (llvm::none_of(extract->getOperands(), [&](Value operand) {
            return op.getRegion().isAncestor(operand.getParentRegion());
          }))
        extract->moveBefore(op);
  });
}

/// tensor.concat: its producers write straight into their part of the result.
/// Of open extents, no producer is in a block of rows with it: parts are
/// copied.
LogicalResult forwardConcat(RewriterBase &rewriter, tensor::ConcatOp op) {
  RankedTensorType type = op.getResultType();
  if (!type.hasStaticShape()) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op.emitError("cannot be written part by part");
    rewriter.replaceOp(op, *parts);
    return success();
  }
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
  return success();
}

/// Transposed copies, for all dots that read the same.
class Transposed {
public:
  explicit Transposed(RewriterBase &rewriter) : rewriter(rewriter) {}
  /// `source` transposed, at the insertion point or before.
  Value of(Value source, ArrayRef<int64_t> permutation) {
    SmallVector<linalg::TransposeOp> &known = copies[source];
    Block *block = rewriter.getInsertionBlock();
    Block::iterator point = rewriter.getInsertionPoint();
    for (linalg::TransposeOp op : known)
      if (op->getBlock() == block && op.getPermutation() == permutation &&
          (point == block->end() || op->isBeforeInBlock(&*point)))
        return op->getResult(0);
    auto type = cast<RankedTensorType>(source.getType());
    Value empty = tensor::EmptyOp::create(
        rewriter, source.getLoc(),
        applyPermutation(type.getShape(), permutation), type.getElementType());
    known.push_back(linalg::TransposeOp::create(rewriter, source.getLoc(),
                                                source, empty, permutation));
    return known.back()->getResult(0);
  }

private:
  RewriterBase &rewriter;
  DenseMap<Value, SmallVector<linalg::TransposeOp>> copies;
};

/// Replaces `op` by one that reads input `i` with `loop` along memory, from a
/// transposed copy that is made outside all loops that do not change it.
void transposeInput(RewriterBase &rewriter, Transposed &copies, LinalgOp op,
                    unsigned i, unsigned loop) {
  OpOperand *input = op.getDpsInputOperand(i);
  AffineMap map = op.getMatchingIndexingMap(input);
  SmallVector<int64_t> permutation;
  int64_t at = -1;
  for (unsigned d = 0; d < map.getNumResults(); ++d)
    if (cast<AffineDimExpr>(map.getResult(d)).getPosition() == loop)
      at = d;
    else
      permutation.push_back(d);
  permutation.push_back(at);

  rewriter.setInsertionPoint(outermostUser(input->get(), op));
  Value transposed = copies.of(input->get(), permutation);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[i] = AffineMap::get(map.getNumDims(), 0,
                           applyPermutation(map.getResults(), permutation),
                           rewriter.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[i] = transposed;
  rewriter.setInsertionPoint(op);
  auto contract = linalg::ContractOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      rewriter.getAffineMapArrayAttr(maps));
  if (auto cast = op->getAttrOfType<linalg::TypeFnAttr>("cast"))
    contract.setCastAttr(cast);
  rewriter.replaceOp(op, contract->getResults());
}

/// Puts the loops of a dot into the order batch, rows, columns, inner
/// dimensions, and the operand with the rows first: the only order that
/// upstream's lowering to outer products takes. (The gradient of a product's
/// right factor comes as inner, columns, rows; it would be transposed in
/// registers instead.)
struct OrderDotLoops : OpRewritePattern<linalg::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::ContractOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(cast<LinalgOp>(op.getOperation()));
    if (failed(dims) || dims->k.empty() || maps[2].getNumResults() < 2 ||
        isPairDot(op) ||
        dims->batch.size() + dims->m.size() + dims->n.size() + dims->k.size() !=
            static_cast<size_t>(op.getNumLoops()))
      return failure();
    SmallVector<unsigned> loops;
    for (unsigned at = 0; at < maps[2].getNumResults(); ++at)
      loops.push_back(maps[2].getDimPosition(at));
    // Tiles have the result's last loop for columns and, for rows, the last one
    // of the other operand; all others go around them.
    bool swap = llvm::is_contained(dims->m, loops.back());
    ArrayRef<unsigned> rows = swap ? dims->n : dims->m;
    if (!swap && !llvm::is_contained(dims->n, loops.back()))
      return failure();
    auto row = llvm::find_if(llvm::reverse(loops), [&](unsigned loop) {
      return llvm::is_contained(rows, loop);
    });
    if (row == loops.rend())
      return failure();
    std::rotate(std::prev(row.base()), row.base(), std::prev(loops.end()));
    llvm::append_range(loops, dims->k);
    if (!swap && llvm::equal(loops, llvm::seq<unsigned>(0, loops.size())))
      return failure();
    SmallVector<AffineExpr> order(loops.size());
    for (auto [at, loop] : llvm::enumerate(loops))
      order[loop] = rewriter.getAffineDimExpr(at);
    for (AffineMap &map : maps)
      map = map.replaceDimsAndSymbols(order, {}, loops.size(), 0);
    SmallVector<Value> inputs = op.getInputs();
    if (swap) {
      std::swap(maps[0], maps[1]);
      std::swap(inputs[0], inputs[1]);
    }
    auto ordered = linalg::ContractOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
        rewriter.getAffineMapArrayAttr(maps));
    if (linalg::TypeFnAttr cast = op.getCastAttr())
      ordered.setCastAttr(cast);
    rewriter.replaceOp(op, ordered->getResults());
    return success();
  }
};

/// A dot reads one operand along the result's rows. Where that operand runs
/// along the inner dimension instead, it is transposed first. A narrow dot runs
/// along its rows instead, and is a plain reduction from then on.
void prepareDots(RewriterBase &rewriter, func::FuncOp function, bool pairs) {
  SmallVector<LinalgOp> dots;
  function.walk([&](LinalgOp op) {
    if (isDot(op) && !op.hasDynamicShape())
      dots.push_back(op);
  });
  HalfPrecisionDots half(rewriter, pairs);
  Transposed copies(rewriter);
  for (LinalgOp op : dots) {
    if (!isNarrowDot(op))
      op = half.prepare(op);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    // Over pairs: as they must lie already.
    if (isPairDot(op))
      continue;
    std::optional<unsigned> column = lastLoop(maps[2]);
    if (!column || !maps[0].isProjectedPermutation() ||
        !maps[1].isProjectedPermutation())
      continue;
    // The operand that has the result's columns, and the other one.
    unsigned i = maps[0].isFunctionOfDim(*column) ? 0 : 1;
    if (isNarrowDot(op)) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
      continue;
    }
    if (lastLoop(maps[i]) != column)
      transposeInput(rewriter, copies, op, i, *column);
  }
}

} // namespace

LogicalResult prepareTensors(RewriterBase &rewriter, func::FuncOp function,
                             bool pairs) {
  MLIRContext *context = function.getContext();
  {
    RewritePatternSet patterns(context);
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    linalg::populateConvertToDestinationStylePatterns(patterns);
    patterns.add<SplatToFill, GenericToContract, OrderDotLoops,
                 DecomposeAggregated>(context);
    addCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return failure();
  }
  readScalarsOutside(function);
  fillLargeSplats(rewriter, function);
  prepareDots(rewriter, function, pairs);
  generalizeNamedOps(rewriter, function);
  readCostlyInits(rewriter, function);
  freeUnreadInits(rewriter, function);
  giveReadersTheirFill(rewriter, function);
  function.walk(
      [&](tensor::ParallelInsertSliceOp op) { computeInPlace(rewriter, op); });
  function.walk(
      [&](tensor::InsertSliceOp op) { computeInPlace(rewriter, op); });
  SmallVector<tensor::ConcatOp> concats;
  function.walk([&](tensor::ConcatOp op) { concats.push_back(op); });
  for (tensor::ConcatOp op : concats)
    if (failed(forwardConcat(rewriter, op)))
      return failure();
  return success();
}

} // namespace drawloom::cpu
