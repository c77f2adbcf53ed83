//===- ReverseMode.cpp - gradients of the code of a block -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/ReverseMode.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;

namespace drawloom {

/// Marks additions of cotangents until they are fused.
static constexpr llvm::StringLiteral kCotangentSum = "ad.sum";

Value emptyLike(OpBuilder &builder, Location loc, Value like,
                Type elementType) {
  auto type = dyn_cast<RankedTensorType>(like.getType());
  if (!type)
    return tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{},
                                   elementType);
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), elementType);
}

Value zerosLike(OpBuilder &builder, Location loc, Value like,
                Type elementType) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elementType));
  return linalg::FillOp::create(builder, loc, zero,
                                emptyLike(builder, loc, like, elementType))
      .getResult(0);
}

Value zerosLike(OpBuilder &builder, Location loc, Value like) {
  if (auto type = dyn_cast<RankedTensorType>(like.getType()))
    return zerosLike(builder, loc, like, type.getElementType());
  return arith::ConstantOp::create(builder, loc,
                                   builder.getZeroAttr(like.getType()));
}

bool isEmptyTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

void eraseDeadOps(RewriterBase &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      rewriter.eraseOp(&op);
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        eraseDeadOps(rewriter, nested);
  }
}

/// Whether two slices of one tensor certainly have no element in common.
static bool areDisjoint(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  for (auto [startA, sizeA, strideA, startB, sizeB, strideB] : llvm::zip_equal(
           a.getStaticOffsets(), a.getStaticSizes(), a.getStaticStrides(),
           b.getStaticOffsets(), b.getStaticSizes(), b.getStaticStrides())) {
    if (llvm::is_contained({startA, sizeA, strideA, startB, sizeB, strideB},
                           ShapedType::kDynamic))
      continue;
    if (startA + (sizeA - 1) * strideA < startB ||
        startB + (sizeB - 1) * strideB < startA)
      return true;
  }
  return false;
}

static bool isZeroFill(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat());
}

/// If `cotangent` is a slice in a tensor of zeros, adds only the slice to
/// `sum`: a loop that reads one slice in each iteration would otherwise pay for
/// the whole tensor each time. Where `sum` holds zeros there is nothing to add
/// to.
static Value addSlice(OpBuilder &builder, Value sum, Value cotangent) {
  auto insert = cotangent.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || !isZeroFill(insert.getDest()))
    return Value();
  Location loc = cotangent.getLoc();
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = insert.getMixedSizes();
  SmallVector<OpFoldResult> strides = insert.getMixedStrides();
  Value rest = sum;
  while (auto earlier = rest.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!areDisjoint(earlier, insert))
      break;
    rest = earlier.getDest();
  }
  Value slice = insert.getSource();
  if (!isZeroFill(rest)) {
    Value old = tensor::ExtractSliceOp::create(
        builder, loc, insert.getSourceType(), sum, offsets, sizes, strides);
    slice = arith::AddFOp::create(builder, loc, old, slice);
  }
  return tensor::InsertSliceOp::create(builder, loc, slice, sum, offsets, sizes,
                                       strides);
}

static Value addCotangents(OpBuilder &builder, Value sum, Value cotangent) {
  auto add = arith::AddFOp::create(builder, cotangent.getLoc(), sum, cotangent);
  add->setDiscardableAttr(kCotangentSum, builder.getUnitAttr());
  return add;
}

/// The sum of cotangents that computes `value` and nothing else.
static arith::AddFOp sumOfCotangents(Value value) {
  auto add = value.getDefiningOp<arith::AddFOp>();
  return add && add->hasOneUse() && add->hasAttr(kCotangentSum)
             ? add
             : arith::AddFOp();
}

/// Adds up the scalars of long sums in two halves: each addition waits for the
/// one before, and a processor has others to do meanwhile.
static void splitLongSums(RewriterBase &rewriter, Operation *root) {
  constexpr size_t isLong = 6;
  SmallVector<arith::AddFOp> sums;
  root->walk([&](arith::AddFOp add) {
    if (isa<FloatType>(add.getType()) && add->hasAttr(kCotangentSum))
      sums.push_back(add);
  });
  // The last addition of a sum comes first.
  DenseSet<Operation *> done;
  for (arith::AddFOp sum : llvm::reverse(sums)) {
    if (done.contains(sum))
      continue;
    SmallVector<arith::AddFOp> adds{sum};
    while (arith::AddFOp before = sumOfCotangents(adds.back().getLhs()))
      adds.push_back(before);
    done.insert(adds.begin(), adds.end());
    if (adds.size() + 1 < isLong)
      continue;
    // In the order in which they are added now.
    SmallVector<Value> terms{adds.back().getLhs()};
    for (arith::AddFOp add : llvm::reverse(adds))
      terms.push_back(add.getRhs());
    rewriter.setInsertionPoint(sum);
    auto addUp = [&](ArrayRef<Value> terms) {
      Value total = terms.front();
      for (Value term : terms.drop_front())
        total = addCotangents(rewriter, total, term);
      return total;
    };
    size_t half = terms.size() / 2;
    Value first = addUp(ArrayRef(terms).take_front(half));
    Value second = addUp(ArrayRef(terms).drop_front(half));
    rewriter.replaceOpWithNewOp<arith::AddFOp>(sum, first, second);
    for (arith::AddFOp add : ArrayRef(adds).drop_front())
      rewriter.eraseOp(add);
  }
}

void fuseCotangentSums(RewriterBase &rewriter, Operation *root) {
  splitLongSums(rewriter, root);
  root->walk([&](arith::AddFOp add) {
    if (!add->removeDiscardableAttr(kCotangentSum))
      return;
    Type element = getElementTypeOrSelf(add.getType());
    if (element.getIntOrFloatBitWidth() < 32)
      return;
    for (unsigned i : {1u, 0u}) {
      auto product = add->getOperand(i).getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse())
        continue;
      rewriter.setInsertionPoint(add);
      rewriter.replaceOpWithNewOp<math::FmaOp>(
          add, product.getLhs(), product.getRhs(), add->getOperand(1 - i));
      rewriter.eraseOp(product);
      return;
    }
  });
}

void ReverseMode::accumulate(Value value, Value cotangent) {
  assert(value.getType() == cotangent.getType() &&
         "a gradient has the type of its value");
  Value &sum = cotangentOfValue[value];
  if (!sum)
    sum = cotangent;
  else if (Value slice = addSlice(rewriter, sum, cotangent))
    sum = slice;
  else
    sum = addCotangents(rewriter, sum, cotangent);
}

/// The operands of the terminator that have a cotangent.
static SmallVector<Value> outputsOf(Block &block, ArrayRef<Value> cotangents) {
  SmallVector<Value> outputs;
  for (auto [operand, cotangent] :
       llvm::zip_equal(block.getTerminator()->getOperands(), cotangents))
    if (cotangent)
      outputs.push_back(operand);
  return outputs;
}

/// Dependence is followed through floats and values only; what goes on as an
/// integer's bits or through memory would be lost without a word, but where an
/// attribute says that it is to be.
static LogicalResult checkDependence(Operation *op, const Activity &activity) {
  bool reads = llvm::any_of(operandsAndCaptures(op),
                            [&](Value v) { return activity.isVaried(v); });
  if (!reads)
    return success();
  if (isa<arith::BitcastOp, tensor::BitcastOp>(op) && !op->hasAttr("ad.stops"))
    return op->emitError("cannot be differentiated: '")
           << op->getName()
           << "' reads the bits of a value that the result has to be "
              "differentiated for";
  auto isMemory = [](Value v) { return isa<BaseMemRefType>(v.getType()); };
  if (llvm::any_of(operandsAndCaptures(op), isMemory) ||
      llvm::any_of(op->getResults(), isMemory))
    return op->emitError("cannot be differentiated: '")
           << op->getName()
           << "' works on memory; differentiate before bufferization";
  return success();
}

LogicalResult ReverseMode::prepare(ArrayRef<Value> cotangents,
                                   ValueRange inputs) {
  // Decomposing yields ops that may have to be decomposed again.
  while (true) {
    Activity activity(block, inputs, outputsOf(block, cotangents));
    bool changed = false;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (failed(checkDependence(&op, activity)))
        return failure();
      if (!activity.isActive(&op))
        continue;
      if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
        SmallVector<Value> captures;
        for (Value value : operandsAndCaptures(&op))
          if (activity.isVaried(value) &&
              !llvm::is_contained(op.getOperands(), value))
            captures.push_back(value);
        if (captures.empty())
          continue;
        if (failed(promoteCaptures(rewriter, structured, captures)))
          return failure();
        changed = true;
        continue;
      }
      auto aggregated = dyn_cast<linalg::AggregatedOpInterface>(op);
      if (!aggregated || isa<DifferentiableOpInterface>(op))
        continue;
      rewriter.setInsertionPoint(&op);
      FailureOr<SmallVector<Value>> parts =
          aggregated.decomposeOperation(rewriter);
      if (failed(parts))
        return op.emitError("cannot be differentiated: '")
               << op.getName() << "' has no derivative of its own and could "
               << "not be decomposed";
      rewriter.replaceOp(&op, *parts);
      changed = true;
    }
    if (!changed)
      return success();
  }
}

LogicalResult ReverseMode::visit(Operation *op, const Activity &activity) {
  SmallVector<Value> cotangents;
  for (Value result : op->getResults())
    cotangents.push_back(cotangentOf(result));
  if (llvm::none_of(cotangents, [](Value v) { return bool(v); }))
    return success();

  rewriter.setInsertionPoint(block.getTerminator());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop, cotangents, activity);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch, cotangents, activity);

  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitError("cannot be differentiated: '")
           << op->getName()
           << "' implements neither DifferentiableOpInterface nor "
              "AggregatedOpInterface";
  llvm::SmallBitVector needed(op->getNumOperands());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    needed[i] = activity.isVaried(operand);
  for (Value value : operandsAndCaptures(op))
    if (activity.isVaried(value) &&
        !llvm::is_contained(op->getOperands(), value))
      return op->emitError("cannot be differentiated: the region of '")
             << op->getName()
             << "' uses a value from outside that the result has to be "
                "differentiated for; pass it as an operand";

  FailureOr<SmallVector<Value>> gradients =
      differentiable.buildVjp(rewriter, cotangents, needed);
  if (failed(gradients))
    return failure();
  rewriter.setInsertionPoint(block.getTerminator());
  for (unsigned i : needed.set_bits())
    if (Value gradient = (*gradients)[i])
      accumulate(op->getOperand(i), gradient);
  return success();
}

FailureOr<SmallVector<Value>> ReverseMode::run(ArrayRef<Value> cotangents,
                                               ValueRange inputs,
                                               ArrayRef<Value> initial) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (failed(prepare(cotangents, inputs)))
    return failure();
  Activity activity(block, inputs, outputsOf(block, cotangents));
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    if (activity.isActive(&op))
      forward.push_back(&op);

  rewriter.setInsertionPoint(block.getTerminator());
  for (auto [input, gradient] : llvm::zip(inputs, initial))
    if (gradient)
      accumulate(input, gradient);
  for (auto [operand, cotangent] :
       llvm::zip_equal(block.getTerminator()->getOperands(), cotangents))
    if (cotangent && activity.isVaried(operand))
      accumulate(operand, cotangent);
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op, activity)))
      return failure();
  return llvm::map_to_vector(inputs, [&](Value v) { return cotangentOf(v); });
}

} // namespace drawloom
