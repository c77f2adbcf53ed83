//===- LinRecCanonicalization.cpp - what becomes known of operands --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Recurrence.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// `type` with what `known` knows of its extents.
RankedTensorType withExtents(RankedTensorType type, ArrayRef<int64_t> known) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [own, other] : llvm::zip_equal(shape, known))
    if (ShapedType::isDynamic(own))
      own = other;
  return RankedTensorType::get(shape, type.getElementType());
}

SmallVector<RankedTensorType> knownResults(ScanOp op) {
  Recurrence form(op);
  RankedTensorType v = Recurrence::type(form.v);
  int64_t sequences = v.getDimSize(0);
  if (form.starts) {
    int64_t entries = Recurrence::type(form.starts).getDimSize(0);
    sequences = ShapedType::isDynamic(entries) ? entries : entries - 1;
  }
  SmallVector<int64_t> out(v.getShape());
  if (form.steps > 1)
    out[1] = Recurrence::type(form.q).getDimSize(1);
  return {withExtents(Recurrence::type(op.getO()), out),
          withExtents(Recurrence::type(op.getFinal()),
                      {sequences, form.heads, form.keySize, form.valueSize})};
}

SmallVector<RankedTensorType> knownResults(ScanBwdOp op) {
  SmallVector<RankedTensorType> types;
  for (Value operand : Recurrence(op).differentiable())
    types.push_back(Recurrence::type(operand));
  return types;
}

SmallVector<RankedTensorType> knownResults(EwScanOp op) {
  RankedTensorType x = Recurrence::type(op.getX());
  SmallVector<int64_t> state = {x.getDimSize(0), x.getDimSize(2)};
  if (op.getStarts()) {
    int64_t entries = Recurrence::type(op.getStarts()).getDimSize(0);
    state[0] = ShapedType::isDynamic(entries) ? entries : entries - 1;
  }
  if (op.getRates())
    state.push_back(Recurrence::type(op.getRates()).getDimSize(1));
  return {withExtents(Recurrence::type(op.getY()), x.getShape()),
          withExtents(Recurrence::type(op.getFinal()), state)};
}

SmallVector<RankedTensorType> knownResults(ShortConvOp op) {
  RankedTensorType x = Recurrence::type(op.getX());
  SmallVector<int64_t> state(x.getShape());
  if (op.getStarts()) {
    int64_t entries = Recurrence::type(op.getStarts()).getDimSize(0);
    state[0] = ShapedType::isDynamic(entries) ? entries : entries - 1;
  }
  state[1] = Recurrence::type(op.getWeight()).getShape().back() - 1;
  return {withExtents(Recurrence::type(op.getY()), x.getShape()),
          withExtents(Recurrence::type(op.getFinal()), state)};
}

SmallVector<RankedTensorType> knownResults(ShortConvBwdOp op) {
  SmallVector<RankedTensorType> types;
  for (Value operand : op.getDifferentiable())
    types.push_back(Recurrence::type(operand));
  return types;
}

/// What a cast forgets of an operand's extents, the op takes, and says of its
/// results: a program with open extents is compiled once a call has given them.
template <typename Op> struct KnowExtents : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands)
      if (auto cast = operand.getDefiningOp<tensor::CastOp>();
          cast && tensor::canFoldIntoConsumerOp(cast))
        operand = cast.getSource();
    if (operands == SmallVector<Value>(op->getOperands()) &&
        llvm::equal(knownResults(op), op->getResultTypes()))
      return failure();
    auto known = cast<Op>(rewriter.clone(*op));
    known->setOperands(operands);
    SmallVector<RankedTensorType> types = knownResults(known);
    SmallVector<Value> results;
    for (auto [result, type, old] :
         llvm::zip_equal(known->getResults(), types, op->getResultTypes())) {
      result.setType(type);
      results.push_back(type == old ? Value(result)
                                    : tensor::CastOp::create(
                                          rewriter, op.getLoc(), old, result));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Operands that have a row for each token, and those that are each sequence's;
/// null where there is none.
struct Sharing {
  SmallVector<Value> perToken, states;
  Value starts;
};

Sharing sharing(ScanOp op) {
  Recurrence form(op);
  Sharing all{{}, {form.initial}, form.starts};
  for (auto [x, hasTokens] : form.perToken())
    if (hasTokens && form.steps == 1)
      all.perToken.push_back(x);
  return all;
}
Sharing sharing(ScanBwdOp op) {
  Recurrence form(op);
  Sharing all{{op.getDO()}, {form.initial, op.getDFinal()}, form.starts};
  for (auto [x, hasTokens] : form.perToken())
    if (hasTokens)
      all.perToken.push_back(x);
  if (form.steps > 1)
    all.perToken.clear();
  return all;
}
Sharing sharing(ShortConvOp op) {
  return {{op.getX()}, {op.getInitial()}, op.getStarts()};
}
Sharing sharing(ShortConvBwdOp op) {
  return {{op.getX(), op.getDY()},
          {op.getInitial(), op.getDFinal()},
          op.getStarts()};
}

/// Numbers of sequences and tokens that one operand knows are those of all:
/// what is computed before the op may show its own only later.
template <typename Op> struct ShareExtents : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Sharing all = sharing(op);
    auto learn = [](int64_t &extent, Value x, int64_t dim) {
      if (x && ShapedType::isDynamic(extent))
        extent = Recurrence::type(x).getDimSize(dim);
    };
    int64_t batch = ShapedType::kDynamic, tokens = batch, sequences = batch;
    for (Value x : all.perToken)
      learn(batch, x, 0), learn(tokens, x, 1);
    for (Value x : all.states)
      learn(sequences, x, 0);
    if (!all.starts)
      sequences = batch = ShapedType::isDynamic(batch) ? sequences : batch;
    else if (int64_t entries = Recurrence::type(all.starts).getDimSize(0);
             !ShapedType::isDynamic(entries))
      sequences = entries - 1;
    bool changes = false;
    for (OpOperand &operand : op->getOpOperands()) {
      bool hasTokens = llvm::is_contained(all.perToken, operand.get());
      if (!hasTokens && !llvm::is_contained(all.states, operand.get()))
        continue;
      RankedTensorType old = Recurrence::type(operand.get());
      SmallVector<int64_t> shape(old.getShape());
      auto know = [&](int64_t dim, int64_t extent) {
        if (ShapedType::isDynamic(shape[dim]))
          shape[dim] = extent;
      };
      know(0, hasTokens ? batch : sequences);
      if (hasTokens)
        know(1, tokens);
      if (old.clone(shape) == old)
        continue;
      Value cast = tensor::CastOp::create(rewriter, op.getLoc(),
                                          old.clone(shape), operand.get());
      rewriter.modifyOpInPlace(op, [&] { operand.set(cast); });
      changes = true;
    }
    return success(changes);
  }
};

/// What no element of a log-decay is less than, where that can be seen.
std::optional<double> boundOf(Value decay) {
  Operation *op = decay.getDefiningOp();
  if (auto gate = dyn_cast_or_null<GateOp>(op))
    return gate.getBound();
  // Ops that only arrange elements.
  if (isa_and_nonnull<tensor::CastOp, tensor::ExpandShapeOp,
                      tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op))
    return boundOf(op->getOperand(0));
  DenseFPElementsAttr constant;
  if (!matchPattern(decay, m_Constant(&constant)) || constant.empty())
    return std::nullopt;
  double least = 0;
  for (APFloat value : constant) {
    bool loses = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    if (!value.isFinite())
      return std::nullopt;
    least = std::min(least, value.convertToDouble());
  }
  return least;
}

/// A bound that follows from where the decay comes from is said.
template <typename Op> struct KnowBound : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    // Rates have the last word on decays.
    if (!op.getDecay() || op.getRates() || op.getDecayBound())
      return failure();
    std::optional<double> bound = boundOf(op.getDecay());
    if (!bound)
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.setDecayBoundAttr(rewriter.getF64FloatAttr(*bound)); });
    return success();
  }
};

bool isZero(Value value) {
  return value && (matchPattern(value, m_AnyZeroFloat()) ||
                   matchPattern(value, m_PosZeroFloat()));
}

/// Decays, erasure and states of zeros are the same as none.
struct DropZeros : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    bool decay = isZero(op.getDecay()), initial = isZero(op.getInitial());
    // What writes back zeros, or what reads by zeros, does nothing.
    bool erase = isZero(op.getErase()) || isZero(op.getLowrank());
    if (!decay && !initial && !erase)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (decay) {
        op.getDecayMutable().clear();
        op.getRatesMutable().clear();
        op.removeDecayAlongValuesAttr();
        op.removeDecayBoundAttr();
      }
      if (initial)
        op.getInitialMutable().clear();
      if (erase) {
        op.getEraseMutable().clear();
        op.getLowrankMutable().clear();
        op.removeEraseBeforeDecayAttr();
      }
    });
    return success();
  }
};

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<KnowExtents<ScanOp>, ShareExtents<ScanOp>, KnowBound<ScanOp>,
               DropZeros>(context);
}

void EwScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<KnowExtents<EwScanOp>>(context);
}

void ShortConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<KnowExtents<ShortConvOp>, ShareExtents<ShortConvOp>>(context);
}

void ShortConvBwdOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                 MLIRContext *context) {
  patterns.add<KnowExtents<ShortConvBwdOp>, ShareExtents<ShortConvBwdOp>>(
      context);
}

void ScanBwdOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<KnowExtents<ScanBwdOp>, ShareExtents<ScanBwdOp>,
               KnowBound<ScanBwdOp>>(context);
}

} // namespace drawloom::linrec
