//===- FuseIntoBlocks.cpp - what block programs read is made in them ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that block programs only read in parts need not be in memory if each
// of them can make its parts. That is worth it where the operations done more
// than once take less time than the bytes that no longer move; a tensor which
// every block reads once costs no operation more.
//
// The other way round, what only reads a block program's result part by part is
// computed on each part before it is written.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Block/Fusion/FuseConsumers.h"
#include "passes/Block/Fusion/SliceChain.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Products.h"
#include "passes/Graph/Decompose.h"
#include "passes/Graph/Passes.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom {

#define GEN_PASS_DEF_FUSEINTOBLOCKS
#include "passes/Block/Passes.h.inc"

namespace {

constexpr remark::RemarkOpts remarkOptions(StringRef name) {
  return remark::RemarkOpts::name(name).category("fuse-into-blocks");
}

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

double bytesOf(RankedTensorType type) {
  unsigned bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  return static_cast<double>(type.getNumElements()) * bits / 8;
}

/// One op that block programs read a tensor by, and how often.
struct Read {
  /// Its slices, from the whole tensor on.
  SmallVector<Operation *> chain;
  SliceChain cut;
  double times;

  Operation *leaf() const { return chain.back(); }
};

/// How often an op runs, if its loops say it.
std::optional<double> timesOf(Operation *op) {
  double times = 1;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>()) {
    if (auto forall = dyn_cast<scf::ForallOp>(loop.getOperation())) {
      for (auto [lo, hi, by] : llvm::zip_equal(forall.getMixedLowerBound(),
                                               forall.getMixedUpperBound(),
                                               forall.getMixedStep())) {
        std::optional<APInt> count = constantTripCount(
            lo, hi, by, /*isSigned=*/true, scf::computeUbMinusLb);
        if (!count)
          return std::nullopt;
        times *= count->getSExtValue();
      }
      continue;
    }
    std::optional<APInt> count = loop.getStaticTripCount();
    if (!count)
      return std::nullopt;
    times *= count->getSExtValue();
  }
  return times;
}

/// Whether `value` is computed from `from`.
bool dependsOn(Value value, Value from) {
  if (value == from)
    return true;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, from);
         });
}

/// Whether `value` is computed from what is loaded anew in each iteration of a
/// loop.
bool isLoadedInLoop(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tensor::ExtractOp>(op) && op->getParentOfType<scf::ForOp>())
    return true;
  return llvm::any_of(op->getOperands(), isLoadedInLoop);
}

/// Whether a tensor is read at numbers that are loaded: each row as often as
/// these say, and nobody else does.
bool isReadByNumber(const Read &read) {
  return llvm::any_of(read.cut.front().dims, [](const DimCut &dim) {
    if (dim.kind == DimCut::Whole || dim.kind == DimCut::Rows)
      return false;
    auto offset = dyn_cast<Value>(dim.offset);
    return getConstantIntValue(dim.size) && offset && isLoadedInLoop(offset);
  });
}

/// How often each element of a tensor is read where loops do not say it: what
/// blocks read from a start and up to an end in memory is taken to be one part
/// each of the whole.
double overlapOf(const Read &read, RankedTensorType type) {
  auto forall = read.leaf()->getParentOfType<scf::ForallOp>();
  double times = 1;
  SmallVector<OpFoldResult> unknown;
  for (auto [dim, extent] :
       llvm::zip_equal(read.cut.front().dims, type.getShape())) {
    if (dim.kind == DimCut::Whole || dim.kind == DimCut::Rows)
      continue;
    if (std::optional<int64_t> size = getConstantIntValue(dim.size))
      times *= static_cast<double>(*size) / extent;
    else
      unknown.append({dim.offset, dim.size});
  }
  for (auto [block, count] :
       llvm::zip_equal(forall.getInductionVars(), forall.getMixedUpperBound()))
    if (llvm::none_of(unknown, [&, variable = block](OpFoldResult of) {
          auto value = dyn_cast<Value>(of);
          return value && dependsOn(value, variable);
        }))
      times *= getConstantIntValue(count).value_or(1);
  return std::max(times, 1.0);
}

/// Whether elements that lie side by side in the result of `op` lie apart in an
/// operand.
bool readsAcrossMemory(Operation *op) {
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (!linalgOp)
    return false;
  AffineMap result = linalgOp.getIndexingMapMatchingResult(op->getResult(0));
  if (result.getNumResults() == 0)
    return false;
  AffineExpr innermost = result.getResults().back();
  return llvm::any_of(linalgOp.getDpsInputOperands(), [&](OpOperand *operand) {
    std::optional<unsigned> at =
        linalgOp.getMatchingIndexingMap(operand).getResultPosition(innermost);
    return at && llvm::any_of(linalgOp.getShape(operand).drop_front(*at + 1),
                              [](int64_t extent) { return extent != 1; });
  });
}

double elementsAfter(const SliceChain &cut, RankedTensorType type) {
  double elements = 1;
  for (int64_t extent : shapeAfter(cut, type))
    elements *= static_cast<double>(extent);
  return elements;
}

/// Finds the ops by which block programs read `value`, a tensor or a slice of
/// one. False where something else reads it.
bool findReads(Value value, SmallVector<Operation *> &chain,
               SmallVectorImpl<Read> &reads,
               llvm::function_ref<bool(Operation *)> isFused) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    auto gather = dyn_cast<block::GatherOp>(user);
    if (isFused(user))
      continue;
    if (!user->getParentOfType<scf::ForallOp>() || !(slice || gather) ||
        use.getOperandNumber() != 0)
      return false;
    chain.push_back(user);
    // A slice that is read by slices is a step on the way.
    if (slice && !slice.getResult().use_empty() &&
        llvm::all_of(slice.getResult().getUses(), [](OpOperand &inner) {
          return isa<tensor::ExtractSliceOp, block::GatherOp>(
                     inner.getOwner()) &&
                 inner.getOperandNumber() == 0;
        })) {
      if (!findReads(slice.getResult(), chain, reads, isFused))
        return false;
      chain.pop_back();
      continue;
    }
    std::optional<SliceChain> cut = cutOf(chain);
    if (!cut || cut->empty() || !typeOf(user->getResult(0)).hasStaticShape())
      return false;
    reads.push_back({chain, *cut, 0});
    chain.pop_back();
  }
  return true;
}

class Fusion {
public:
  Fusion(Block &block, double operationsPerByte, int64_t tileBytes)
      : block(block), operationsPerByte(operationsPerByte),
        tileBytes(tileBytes), rewriter(block.getParent()->getContext()) {}

  bool run() {
    bool changed = false;
    // Before what they read in their turn joins the same blocks.
    for (auto forall : llvm::to_vector(block.getOps<scf::ForallOp>()))
      for (OpResult result : forall.getResults())
        changed |= consume(forall, result);
    SmallVector<Candidate> candidates;
    for (auto op : llvm::to_vector(block.getOps<BlockFusionOpInterface>()))
      tryOut(op, candidates);
    // What reads comes before what is read.
    for (Operation &op : llvm::reverse(block))
      if ((canBeCut(&op) || isa<block::GatherOp, tensor::ExpandShapeOp>(op)) &&
          op.getNumResults() == 1 && !isa<linalg::FillOp>(op) &&
          !op.use_empty())
        consider(&op);
    for (Candidate &candidate : llvm::reverse(candidates))
      if (!isFused(candidate.form))
        rollBack(candidate);
    for (auto &[op, leaves] : found)
      for (const Read &read : leaves)
        replace(op, read);
    return changed || !found.empty();
  }

private:
  /// An op that has a block program of its own, and the form that is offered in
  /// place of its first result.
  struct Candidate {
    Operation *op;
    Value form;
    SmallVector<Operation *> made;
  };

  void tryOut(BlockFusionOpInterface op,
              SmallVectorImpl<Candidate> &candidates) {
    Value result = op->getResult(0);
    if (result.use_empty())
      return;
    Operation *before = op->getPrevNode();
    rewriter.setInsertionPoint(op);
    FailureOr<Value> form = op.buildStructuredForm(rewriter);
    Candidate candidate = {op, succeeded(form) ? *form : Value(), {}};
    for (Operation *made = before ? before->getNextNode() : &block.front();
         made != op; made = made->getNextNode())
      candidate.made.push_back(made);
    if (candidate.form)
      rewriter.replaceAllUsesWith(result, candidate.form);
    eraseUnread(candidate.made);
    if (candidate.form)
      candidates.push_back(candidate);
  }

  /// Whether a value is computed where it is read, seen through other shapes.
  bool isFused(Value value) {
    Operation *op = value.getDefiningOp();
    while (op && fused.contains(op) && isa<tensor::ExpandShapeOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return op && fused.contains(op) && !isa<tensor::ExpandShapeOp>(op);
  }

  void rollBack(Candidate &candidate) {
    rewriter.replaceAllUsesWith(candidate.form, candidate.op->getResult(0));
    llvm::SmallPtrSet<Operation *, 16> made(candidate.made.begin(),
                                            candidate.made.end());
    llvm::erase_if(found,
                   [&](auto &entry) { return made.contains(entry.first); });
    for (Operation *op : candidate.made)
      fused.erase(op);
    eraseUnread(candidate.made);
  }

  /// Erases those of the ops, in order, that nobody reads; the rest is left.
  void eraseUnread(SmallVectorImpl<Operation *> &ops) {
    SmallVector<Operation *> read;
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
      else
        read.push_back(op);
    ops.assign(read.rbegin(), read.rend());
  }

  /// What reading a value in all these ways takes of memory, in bytes.
  static double bytesRead(RankedTensorType type, ArrayRef<Read> reads) {
    double bytes = 0;
    for (const Read &read : reads)
      bytes += read.times * elementsAfter(read.cut, type) * bytesOf(type) /
               static_cast<double>(type.getNumElements());
    return bytes;
  }

  /// Nothing is computed more often in the blocks; what is read for each part
  /// may be read more often.
  bool consume(scf::ForallOp forall, OpResult result) {
    std::optional<ConsumedParts> parts = findConsumers(forall, result);
    RankedTensorType type = typeOf(result);
    if (!parts || !type.hasStaticShape())
      return false;
    Read read = {{}, parts->cut, 0};
    Operation *writer = parts->tile->getOwner();
    if (std::optional<double> times = timesOf(writer))
      read.times = *times;
    else
      read.times = static_cast<double>(type.getNumElements()) /
                   elementsAfter(read.cut, type);
    double saved = 2 * bytesOf(type);
    for (auto &[value, cut] : parts->others)
      if (auto other = dyn_cast<RankedTensorType>(value.getType());
          other && bytesOf(other) > tileBytes)
        saved += bytesOf(other) - bytesRead(other, {{{}, cut, read.times}});
    if (saved < 0 || !fuseConsumers(rewriter, forall, *parts))
      return false;
    remark::passed(parts->output.getLoc(), remarkOptions("Consumed"))
        << remark::metric("ops", parts->ops.size())
        << remark::metric("bytes", static_cast<int64_t>(saved))
        << remark::metric("tensorBytes", static_cast<int64_t>(bytesOf(type)));
    return true;
  }

  /// What an op reads for a part of its result. Nothing where that is no part
  /// of an operand.
  static std::optional<SmallVector<std::pair<Value, SliceChain>>>
  cutsOfOperands(Operation *op, const SliceChain &cut) {
    SmallVector<std::pair<Value, SliceChain>> found;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      std::optional<SliceChain> own = cutOfSource(expand, cut);
      if (!own || !canRead(*own))
        return std::nullopt;
      found.push_back({expand.getSrc(), *own});
      return found;
    }
    if (auto gather = dyn_cast<block::GatherOp>(op)) {
      std::optional<GatherCut> own = cutOfGather(cut);
      if (!own || !canRead(own->rows))
        return std::nullopt;
      found.push_back({gather.getIndices(), own->rows});
      return found;
    }
    auto linalgOp = cast<LinalgOp>(op);
    SliceChain loops =
        onLoops(cut, linalgOp.getIndexingMapMatchingResult(op->getResult(0)));
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()) ||
          (linalgOp.isDpsInit(&operand) &&
           !linalgOp.payloadUsesValueFromOperand(&operand)))
        continue;
      SliceChain own =
          onOperand(loops, linalgOp.getMatchingIndexingMap(&operand));
      if (!canRead(own))
        return std::nullopt;
      found.push_back({operand.get(), own});
    }
    return found;
  }

  /// Operations of an op for all of its result.
  static double workOf(Operation *op) {
    if (isa<tensor::ExpandShapeOp>(op))
      return 0;
    if (isa<block::GatherOp>(op))
      return static_cast<double>(typeOf(op->getResult(0)).getNumElements());
    auto linalgOp = cast<LinalgOp>(op);
    double iterations = 1;
    for (int64_t range : linalgOp.getStaticLoopRanges())
      iterations *= static_cast<double>(range);
    return iterations * operationsOf(linalgOp);
  }

  void consider(Operation *op) {
    Value value = op->getResult(0);
    RankedTensorType type = typeOf(value);
    auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
    auto gather = dyn_cast<block::GatherOp>(op);
    if (readWhole.contains(value) || !type.hasStaticShape())
      return;
    // Of what lies in memory already, a part is a part.
    Operation *source = expand ? expand.getSrc().getDefiningOp() : op;
    if (!source || !(canBeCut(source) || isa<block::GatherOp>(source)))
      return;
    SmallVector<Read> leaves;
    SmallVector<Operation *> chain;
    if (!findReads(value, chain, leaves,
                   [&](Operation *user) { return fused.contains(user); }))
      return;
    for (Read &read : leaves)
      if (std::optional<double> times = timesOf(read.leaf()))
        read.times = *times;
      else if (isReadByNumber(read))
        return missed(op, "rows are read by numbers, as often as these say");
      else
        read.times = overlapOf(read, type) *
                     static_cast<double>(type.getNumElements()) /
                     elementsAfter(read.cut, type);
    // What reads it within a tile reads it like that one.
    SmallVector<Read> reads = leaves;
    llvm::append_range(reads, inherited.lookup(value));
    if (reads.empty())
      return;
    double elements = static_cast<double>(type.getNumElements());
    double times = 0;
    for (const Read &read : reads) {
      times += read.times * elementsAfter(read.cut, type) / elements;
      if (elementsAfter(read.cut, type) / elements * bytesOf(type) > tileBytes)
        return missed(op, "a part of it is larger than a tile may be");
    }
    // A transposition is dearer than its bytes say: it goes one by one instead
    // of by vectors.
    if (times > 1 && workOf(op) == 0 && readsAcrossMemory(op))
      return missed(op, "an operand lies the other way round");
    // Written once and read, against operands that are read once.
    double saved = bytesOf(type) + bytesRead(type, reads);
    SmallVector<std::pair<Value, SmallVector<Read>>> operands;
    for (const Read &read : reads) {
      auto cuts = cutsOfOperands(op, read.cut);
      if (!cuts)
        return missed(op, "an operand's rows are not its first dimension");
      operands.resize(cuts->size());
      for (auto [operand, own] : llvm::zip_equal(operands, *cuts)) {
        operand.first = own.first;
        operand.second.push_back({read.chain, own.second, read.times});
      }
    }
    for (auto &[operand, ofOperand] : operands)
      // Small ones stay in a cache.
      if (RankedTensorType own = typeOf(operand);
          !operand.getDefiningOp<linalg::FillOp>() && bytesOf(own) > tileBytes)
        saved += bytesOf(own) - bytesRead(own, ofOperand);
    // Rows are read as often as they are gathered.
    if (gather && bytesOf(typeOf(gather.getSource())) > tileBytes)
      saved += bytesOf(type) - bytesRead(type, reads);
    double more = std::max(times - 1, 0.0) * workOf(op);
    if (!expand && (more > operationsPerByte * saved || saved < 0)) {
      remark::missed(op->getLoc(), remarkOptions("NotFused"))
          << remark::reason("computing it again would take longer than "
                            "reading it")
          << remark::metric("times", static_cast<float>(times))
          << remark::metric("operations", static_cast<int64_t>(more))
          << remark::metric("bytes", static_cast<int64_t>(saved));
      return;
    }
    if (!expand)
      remark::passed(op->getLoc(), remarkOptions("Fused"))
          << remark::metric("times", static_cast<float>(times))
          << remark::metric("operations", static_cast<int64_t>(more))
          << remark::metric("bytes", static_cast<int64_t>(saved))
          << remark::metric("tensorBytes", static_cast<int64_t>(bytesOf(type)));
    fused.insert(op);
    if (gather)
      readWhole.insert(gather.getSource());
    for (auto &[operand, ofOperand] : operands)
      inherited[operand].append(ofOperand);
    if (!leaves.empty())
      found.push_back({op, leaves});
  }

  static void missed(Operation *op, StringRef reason) {
    remark::missed(op->getLoc(), remarkOptions("NotFused"))
        << remark::reason("{0}", reason.str());
  }

  void replace(Operation *op, const Read &read) {
    PartBuilder builder(rewriter, fused, /*packs=*/true);
    OpResult value = op->getResult(0);
    Operation *leaf = read.leaf();
    Value part = isa<block::GatherOp>(leaf)
                     ? builder.maskedPart(value, read.cut)
                     : builder.part(value, read.cut);
    // Copied for those who would read memory again and again: this is one.
    for (Operation *user : llvm::make_early_inc_range(leaf->getUsers()))
      if (auto copy = dyn_cast<linalg::CopyOp>(user);
          copy && copy.getNumResults() == 1 &&
          copy.getResultTypes()[0] == part.getType() &&
          copy.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
        rewriter.replaceOp(copy, part);
    rewriter.replaceAllUsesWith(leaf->getResult(0), part);
  }

  Block &block;
  double operationsPerByte;
  int64_t tileBytes;
  IRRewriter rewriter;
  llvm::SmallPtrSet<Operation *, 8> fused;
  DenseMap<Value, SmallVector<Read>> inherited;
  /// Ops whose results blocks read themselves.
  SmallVector<std::pair<Operation *, SmallVector<Read>>> found;
  /// What rows are gathered from.
  llvm::SmallPtrSet<Value, 4> readWhole;
};

/// A part of what has one value everywhere, made where it is read.
struct FillParts : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto fill = slice.getSource().getDefiningOp<linalg::FillOp>();
    if (!fill)
      return failure();
    // No target has tiles of unknown extents. Gathers of zeros are zeros.
    if (!slice.getType().hasStaticShape() &&
        !(block::isZeros(slice.getSource()) &&
          llvm::all_of(slice->getUsers(), llvm::IsaPred<block::GatherOp>)))
      return failure();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<OpFoldResult> sizes;
    for (auto [at, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(at))
        sizes.push_back(size);
    Value empty = tensor::EmptyOp::create(rewriter, slice.getLoc(), sizes,
                                          slice.getType().getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(slice, fill.getInputs(), empty);
    return success();
  }
};

struct FuseIntoBlocks : impl::FuseIntoBlocksBase<FuseIntoBlocks> {
  using FuseIntoBlocksBase::FuseIntoBlocksBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || isOpaque(function))
      return;
    // A part of what has one value everywhere is made where it is read.
    RewritePatternSet patterns(&getContext());
    patterns.add<FillParts>(&getContext());
    getContext()
        .getLoadedDialect<block::BlockDialect>()
        ->getCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return signalPassFailure();
    Fusion fusion(function.getBody().front(), operationsPerByte, tileBytes);
    bool changed = fusion.run();
    // What joined nobody is a block program of its own.
    auto stays = [](Operation *op) { return !isa<BlockFusionOpInterface>(op); };
    if (failed(decomposeAll(function, stays)))
      return signalPassFailure();
    if (!changed)
      return;
    // Neighbours are part of their readers' chains now.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, function->getRegions());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    OpPassManager pm(func::FuncOp::getOperationName());
    pm.addPass(createMergeElementwise());
    if (failed(runPipeline(pm, function)))
      return signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
