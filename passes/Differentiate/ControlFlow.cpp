//===- ControlFlow.cpp - gradients of loops and branches ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop runs forwards once more with a tape: for each value that it carries
// and that the way back reads, a tensor with one slot for each iteration. The
// backward loop counts down, takes the carried values from the tape, computes
// the body again and carries the cotangents of the carried values.
//
// A branch needs no tape: the backward branch computes its forward part again.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Differentiate/ReverseMode.h"

using namespace mlir;
using llvm::SmallBitVector;

namespace drawloom {

/// Values from outside of `op` that its regions use and that are varied.
static SmallVector<Value> variedCaptures(Operation *op,
                                         const Activity &activity) {
  SmallVector<Value> captures;
  for (Value value : operandsAndCaptures(op)) {
    bool used = llvm::any_of(value.getUses(), [&](OpOperand &use) {
      return op->isProperAncestor(use.getOwner());
    });
    if (used && activity.isVaried(value))
      captures.push_back(value);
  }
  return captures;
}

static void insertClones(RewriterBase &rewriter, Block &from,
                         IRMapping &mapping) {
  for (Operation &op : from)
    rewriter.clone(op, mapping);
}

static Value orZero(RewriterBase &rewriter, Value gradient, Value like) {
  return gradient ? gradient : zerosLike(rewriter, like.getLoc(), like);
}

//===----------------------------------------------------------------------===//
// scf.if
//===----------------------------------------------------------------------===//

LogicalResult ReverseMode::visitIf(scf::IfOp branch, ArrayRef<Value> cotangents,
                                   const Activity &activity) {
  SmallVector<Value> captures;
  for (Value value : variedCaptures(branch, activity)) {
    auto reachesOutput = [&](Region &region) {
      SmallVector<Value> outputs;
      Operation *yield = region.front().getTerminator();
      for (auto [operand, cotangent] :
           llvm::zip_equal(yield->getOperands(), cotangents))
        if (cotangent)
          outputs.push_back(operand);
      return Activity(region.front(), value, outputs).isUseful(value);
    };
    if (llvm::any_of(branch->getRegions(), reachesOutput))
      captures.push_back(value);
  }
  if (captures.empty())
    return success();

  auto backward =
      scf::IfOp::create(rewriter, branch.getLoc(),
                        TypeRange(ValueRange(captures)), branch.getCondition(),
                        /*addThenBlock=*/true,
                        /*addElseBlock=*/true);
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), backward->getRegions())) {
    Block &block = to.front();
    rewriter.setInsertionPointToStart(&block);
    IRMapping mapping;
    insertClones(rewriter, from.front(), mapping);
    FailureOr<SmallVector<Value>> gradients =
        ReverseMode(rewriter, block).run(cotangents, captures);
    if (failed(gradients))
      return failure();
    rewriter.setInsertionPoint(block.getTerminator());
    SmallVector<Value> yielded;
    for (auto [gradient, capture] : llvm::zip_equal(*gradients, captures))
      yielded.push_back(orZero(rewriter, gradient, capture));
    rewriter.replaceOpWithNewOp<scf::YieldOp>(block.getTerminator(), yielded);
    eraseDeadOps(rewriter, block);
  }
  rewriter.setInsertionPoint(block.getTerminator());
  for (auto [capture, gradient] :
       llvm::zip_equal(captures, backward.getResults()))
    accumulate(capture, gradient);
  return success();
}

//===----------------------------------------------------------------------===//
// scf.for
//===----------------------------------------------------------------------===//

namespace {

/// Which carried values and captures of a loop have gradients.
struct LoopActivity {
  /// Carried values that depend on an input and on which a cotangent of the
  /// loop's results depends, through any number of iterations.
  SmallBitVector carried;
  SmallVector<Value> captures;
};

/// The induction variable in units of its step, as an index.
struct IterationSpace {
  Value lower, step; // Index type.
  OpFoldResult tripCount;
};

} // namespace

static LoopActivity analyzeLoop(scf::ForOp loop, ArrayRef<Value> cotangents,
                                const Activity &outer) {
  Block &body = *loop.getBody();
  unsigned count = loop.getNumRegionIterArgs();
  SmallVector<Value> captures = variedCaptures(loop, outer);
  SmallBitVector varied(count), useful(count);
  for (unsigned i = 0; i < count; ++i) {
    varied[i] = outer.isVaried(loop.getInitArgs()[i]);
    useful[i] = bool(cotangents[i]);
  }
  // A value may reach another carried value and come back with it the next
  // time: repeat until nothing changes.
  auto run = [&] {
    SmallVector<Value> inputs(captures), outputs;
    for (unsigned i = 0; i < count; ++i) {
      if (varied[i])
        inputs.push_back(loop.getRegionIterArg(i));
      if (useful[i])
        outputs.push_back(loop.getYieldedValues()[i]);
    }
    return Activity(body, inputs, outputs);
  };
  for (bool changed = true; changed;) {
    changed = false;
    Activity activity = run();
    for (unsigned i = 0; i < count; ++i)
      if (!varied[i] && hasGradient(loop.getRegionIterArg(i).getType()) &&
          activity.isVaried(loop.getYieldedValues()[i]))
        changed = varied[i] = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    Activity activity = run();
    for (unsigned i = 0; i < count; ++i)
      if (!useful[i] && activity.isUseful(loop.getRegionIterArg(i)))
        changed = useful[i] = true;
  }
  Activity activity = run();
  LoopActivity result;
  result.carried = varied;
  result.carried &= useful;
  for (Value capture : captures)
    if (activity.isUseful(capture))
      result.captures.push_back(capture);
  return result;
}

static Value toIndex(RewriterBase &rewriter, Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(rewriter, value.getLoc(),
                                    rewriter.getIndexType(), value);
}

static IterationSpace iterationSpace(RewriterBase &rewriter, scf::ForOp loop) {
  Location loc = loop.getLoc();
  IterationSpace space;
  space.lower = toIndex(rewriter, loop.getLowerBound());
  space.step = toIndex(rewriter, loop.getStep());
  if (std::optional<APInt> count = loop.getStaticTripCount()) {
    space.tripCount = rewriter.getIndexAttr(count->getSExtValue());
    return space;
  }
  Value upper = toIndex(rewriter, loop.getUpperBound());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value extent = arith::SubIOp::create(rewriter, loc, upper, space.lower);
  Value count = arith::CeilDivSIOp::create(rewriter, loc, extent, space.step);
  // An upper bound below the lower one means no iteration.
  space.tripCount =
      arith::MaxSIOp::create(rewriter, loc, count, zero).getResult();
  return space;
}

/// Where slot `index` of a tape lies.
static void tapeSlot(OpBuilder &builder, Location loc, Value index, Value like,
                     SmallVector<OpFoldResult> &offsets,
                     SmallVector<OpFoldResult> &sizes,
                     SmallVector<OpFoldResult> &strides) {
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(builder, loc, like);
  offsets.assign(shape.size() + 1, builder.getIndexAttr(0));
  offsets[0] = index;
  sizes.assign(1, builder.getIndexAttr(1));
  llvm::append_range(sizes, shape);
  strides.assign(shape.size() + 1, builder.getIndexAttr(1));
}

/// Adds a tape for each of the carried values `taped` to the loop and returns
/// the new loop, whose last results are the tapes.
static FailureOr<scf::ForOp> addTapes(RewriterBase &rewriter, scf::ForOp loop,
                                      ArrayRef<unsigned> taped,
                                      const IterationSpace &space) {
  Location loc = loop.getLoc();
  SmallVector<Value> tapes;
  for (unsigned i : taped) {
    Value init = loop.getInitArgs()[i];
    Type type = init.getType();
    SmallVector<OpFoldResult> shape = {space.tripCount};
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (tensorType)
      llvm::append_range(shape, tensor::getMixedSizes(rewriter, loc, init));
    else if (!type.isIntOrIndexOrFloat())
      return loop.emitError("cannot be differentiated: the carried value ")
             << i << " of type " << type
             << " cannot be kept for the way back; carry scalars or ranked "
                "tensors";
    tapes.push_back(tensor::EmptyOp::create(rewriter, loc, shape,
                                            getElementTypeOrSelf(type)));
  }
  auto record = [&](OpBuilder &builder, Location loc,
                    ArrayRef<BlockArgument> tapeArgs) {
    OpBuilder::InsertionGuard guard(builder);
    auto current = cast<scf::ForOp>(tapeArgs.front().getOwner()->getParentOp());
    Value iv = current.getInductionVar();
    if (!iv.getType().isIndex())
      iv = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), iv);
    Value passed = arith::SubIOp::create(builder, loc, iv, space.lower);
    Value slot = arith::DivSIOp::create(builder, loc, passed, space.step);
    SmallVector<Value> recorded;
    for (auto [i, tape] : llvm::zip_equal(taped, tapeArgs)) {
      Value value = current.getRegionIterArg(i);
      if (!isa<RankedTensorType>(value.getType())) {
        recorded.push_back(
            tensor::InsertOp::create(builder, loc, value, tape, slot));
        continue;
      }
      SmallVector<OpFoldResult> offsets, sizes, strides;
      tapeSlot(builder, loc, slot, value, offsets, sizes, strides);
      recorded.push_back(tensor::InsertSliceOp::create(
          builder, loc, value, tape, offsets, sizes, strides));
    }
    return recorded;
  };
  FailureOr<LoopLikeOpInterface> wider = loop.replaceWithAdditionalYields(
      rewriter, tapes, /*replaceInitOperandUsesInLoop=*/false, record);
  if (failed(wider))
    return failure();
  return cast<scf::ForOp>(wider->getOperation());
}

/// What a tape recorded in its slot `slot`.
static Value readTape(OpBuilder &builder, Location loc, Value tape, Value slot,
                      Value like) {
  auto type = dyn_cast<RankedTensorType>(like.getType());
  if (!type)
    return tensor::ExtractOp::create(builder, loc, tape, slot);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  tapeSlot(builder, loc, slot, like, offsets, sizes, strides);
  return tensor::ExtractSliceOp::create(builder, loc, type, tape, offsets,
                                        sizes, strides);
}

namespace {

/// A loop that counts down through the iterations of another one. It computes
/// the body of that again, and carries the cotangents of its carried values and
/// the sums of the gradients of its captures.
class BackwardLoop {
public:
  BackwardLoop(RewriterBase &rewriter, scf::ForOp loop,
               const IterationSpace &space, const LoopActivity &active)
      : rewriter(rewriter), loop(loop), loc(loop.getLoc()), space(space),
        active(active) {}

  /// Makes the loop, whose body is that of the forward one so far.
  void create(ArrayRef<Value> cotangents);
  /// Makes the body compute the gradients.
  LogicalResult differentiate();
  /// Takes the carried values that the body needs from tapes of the forward
  /// loop, which is replaced by one that has these.
  LogicalResult readTapes();
  /// Returns the values whose gradients are the results.
  SmallVector<Value> sources();
  ResultRange results() { return backward.getResults(); }

private:
  /// The number of the forward loop's iteration.
  Value currentSlot() {
    Value last = arith::SubIOp::create(rewriter, loc, count, one);
    return arith::SubIOp::create(rewriter, loc, last,
                                 backward.getInductionVar());
  }
  Value inductionVar();
  void replaceExtents();
  SmallVector<unsigned> removeStandIns();

  RewriterBase &rewriter;
  scf::ForOp loop;
  Location loc;
  const IterationSpace &space;
  const LoopActivity &active;
  scf::ForOp backward;
  Value count, one;
  /// Stand for the carried values until it is known which need a tape.
  SmallVector<UnrealizedConversionCastOp> standIns;
};

void BackwardLoop::create(ArrayRef<Value> cotangents) {
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  count = getValueOrCreateConstantIndexOp(rewriter, loc, space.tripCount);
  for (BlockArgument carried : loop.getRegionIterArgs())
    standIns.push_back(UnrealizedConversionCastOp::create(
        rewriter, loc, carried.getType(), ValueRange{}));
  SmallVector<Value> inits;
  for (unsigned i : active.carried.set_bits())
    inits.push_back(cotangents[i]
                        ? cotangents[i]
                        : zerosLike(rewriter, loc, loop.getInitArgs()[i]));
  for (Value capture : active.captures)
    inits.push_back(zerosLike(rewriter, loc, capture));
  backward =
      scf::ForOp::create(rewriter, loc, zero, count, one, inits,
                         [](OpBuilder &, Location, Value, ValueRange) {});

  rewriter.setInsertionPointToStart(backward.getBody());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), inductionVar());
  for (auto [carried, standIn] :
       llvm::zip_equal(loop.getRegionIterArgs(), standIns))
    mapping.map(carried, standIn.getResult(0));
  insertClones(rewriter, *loop.getBody(), mapping);
}

/// The forward loop's, in iteration count - 1 - k.
Value BackwardLoop::inductionVar() {
  Value passed =
      arith::MulIOp::create(rewriter, loc, currentSlot(), space.step);
  Value iv = arith::AddIOp::create(rewriter, loc, space.lower, passed);
  if (iv.getType() != loop.getInductionVar().getType())
    iv = arith::IndexCastOp::create(rewriter, loc,
                                    loop.getInductionVar().getType(), iv);
  return iv;
}

LogicalResult BackwardLoop::differentiate() {
  Block &body = *backward.getBody();
  SmallVector<Value> inputs, seeds(loop.getNumRegionIterArgs());
  for (auto [k, i] : llvm::enumerate(active.carried.set_bits())) {
    inputs.push_back(standIns[i].getResult(0));
    seeds[i] = backward.getRegionIterArg(k);
  }
  // Gradients of captures are summed up over the iterations.
  SmallVector<Value> initial(inputs.size());
  llvm::append_range(initial,
                     backward.getRegionIterArgs().drop_front(inputs.size()));
  llvm::append_range(inputs, active.captures);
  FailureOr<SmallVector<Value>> gradients =
      ReverseMode(rewriter, body).run(seeds, inputs, initial);
  if (failed(gradients))
    return failure();

  rewriter.setInsertionPoint(body.getTerminator());
  SmallVector<Value> yielded;
  for (auto [carried, gradient] :
       llvm::zip_equal(backward.getRegionIterArgs(), *gradients))
    yielded.push_back(orZero(rewriter, gradient, carried));
  rewriter.replaceOpWithNewOp<scf::YieldOp>(body.getTerminator(), yielded);
  eraseDeadOps(rewriter, body);
  return success();
}

/// Extents of carried values do not change from iteration to iteration.
void BackwardLoop::replaceExtents() {
  for (auto [i, standIn] : llvm::enumerate(standIns))
    for (Operation *user :
         llvm::make_early_inc_range(standIn.getResult(0).getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        Value init = loop.getInitArgs()[i];
        rewriter.modifyOpInPlace(dim,
                                 [&] { dim.getSourceMutable().assign(init); });
      }
}

/// Removes those of carried values that the body does not read, and returns
/// which it reads.
SmallVector<unsigned> BackwardLoop::removeStandIns() {
  SmallVector<unsigned> taped;
  for (auto [i, standIn] : llvm::enumerate(standIns)) {
    if (standIn.use_empty()) {
      rewriter.eraseOp(standIn);
    } else if (isEmptyTensor(standIn.getResult(0).getType())) {
      rewriter.setInsertionPoint(standIn);
      Value init = loop.getInitArgs()[i];
      rewriter.replaceOp(
          standIn,
          emptyLike(rewriter, loc, init, getElementTypeOrSelf(init.getType())));
    } else {
      taped.push_back(i);
    }
  }
  return taped;
}

LogicalResult BackwardLoop::readTapes() {
  replaceExtents();
  SmallVector<unsigned> taped = removeStandIns();
  if (taped.empty())
    return success();
  unsigned firstTape = loop.getNumResults();
  rewriter.setInsertionPoint(loop);
  FailureOr<scf::ForOp> wider = addTapes(rewriter, loop, taped, space);
  if (failed(wider))
    return failure();
  loop = *wider;
  rewriter.setInsertionPointToStart(backward.getBody());
  Value slot = currentSlot();
  for (auto [k, i] : llvm::enumerate(taped))
    rewriter.replaceOp(standIns[i],
                       readTape(rewriter, loc, loop.getResult(firstTape + k),
                                slot, loop.getInitArgs()[i]));
  return success();
}

SmallVector<Value> BackwardLoop::sources() {
  SmallVector<Value> sources;
  for (unsigned i : active.carried.set_bits())
    sources.push_back(loop.getInitArgs()[i]);
  llvm::append_range(sources, active.captures);
  return sources;
}

} // namespace

LogicalResult ReverseMode::visitFor(scf::ForOp loop, ArrayRef<Value> cotangents,
                                    const Activity &activity) {
  if (loop.getUnsignedCmp())
    return loop.emitError("cannot be differentiated: 'scf.for' with unsigned "
                          "bounds is not supported; use signed ones");
  LoopActivity active = analyzeLoop(loop, cotangents, activity);
  if (active.carried.none() && active.captures.empty())
    return success();

  // Bounds are computed in front of the loop, where its tapes need them.
  rewriter.setInsertionPoint(loop);
  IterationSpace space = iterationSpace(rewriter, loop);

  rewriter.setInsertionPoint(block.getTerminator());
  BackwardLoop backward(rewriter, loop, space, active);
  backward.create(cotangents);
  if (failed(backward.differentiate()) || failed(backward.readTapes()))
    return failure();

  rewriter.setInsertionPoint(block.getTerminator());
  for (auto [source, gradient] :
       llvm::zip_equal(backward.sources(), backward.results()))
    if (activity.isVaried(source))
      accumulate(source, gradient);
  return success();
}

} // namespace drawloom
