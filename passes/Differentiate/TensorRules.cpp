//===- TensorRules.cpp - derivatives of tensor ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Differentiate/ReverseMode.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;
using llvm::SmallBitVector;

namespace drawloom {

/// The slice of the result came from one place of the source: put it back.
static Gradients extractSliceRule(tensor::ExtractSliceOp op, Value g,
                                  ScalarBuilder &b, const SmallBitVector &) {
  Gradients gradients(op->getNumOperands());
  gradients[0] = tensor::InsertSliceOp::create(
      b.builder, b.loc, g, zerosLike(b.builder, b.loc, op.getSource()),
      op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides());
  return gradients;
}

static Gradients insertSliceRule(tensor::InsertSliceOp op, Value g,
                                 ScalarBuilder &b,
                                 const SmallBitVector &needed) {
  Gradients gradients(op->getNumOperands());
  if (needed[0])
    gradients[0] = tensor::ExtractSliceOp::create(
        b.builder, b.loc, op.getSourceType(), g, op.getMixedOffsets(),
        op.getMixedSizes(), op.getMixedStrides());
  if (needed[1])
    gradients[1] = tensor::InsertSliceOp::create(
        b.builder, b.loc, zerosLike(b.builder, b.loc, op.getSource()), g,
        op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides());
  return gradients;
}

static Gradients expandShapeRule(tensor::ExpandShapeOp op, Value g,
                                 ScalarBuilder &b, const SmallBitVector &) {
  Gradients gradients(op->getNumOperands());
  gradients[0] = tensor::CollapseShapeOp::create(
      b.builder, b.loc, op.getSrcType(), g, op.getReassociationIndices());
  return gradients;
}

static Value collapseShapeRule(tensor::CollapseShapeOp op, Value g,
                               ScalarBuilder &b) {
  return tensor::ExpandShapeOp::create(
      b.builder, b.loc, op.getSrcType(), g, op.getReassociationIndices(),
      tensor::getMixedSizes(b.builder, b.loc, op.getSrc()));
}

static Value castRule(tensor::CastOp op, Value g, ScalarBuilder &b) {
  return tensor::CastOp::create(b.builder, b.loc, op.getSource().getType(), g);
}

/// Each operand gets its stretch of g.
static Gradients concatRule(tensor::ConcatOp op, Value g, ScalarBuilder &b,
                            const SmallBitVector &needed) {
  OpBuilder &builder = b.builder;
  int64_t dim = op.getDim();
  int64_t rank = op.getResultType().getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  Gradients gradients;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, b.loc, input);
    gradients.emplace_back();
    auto type = cast<RankedTensorType>(input.getType());
    if (needed[i] && !isEmptyTensor(type))
      gradients.back() = tensor::ExtractSliceOp::create(
          builder, b.loc, type, g, offsets, sizes, strides);
    auto start = getConstantIntValue(offsets[dim]);
    auto extent = getConstantIntValue(sizes[dim]);
    if (start && extent)
      offsets[dim] = builder.getIndexAttr(*start + *extent);
    else
      offsets[dim] =
          arith::AddIOp::create(
              builder, b.loc,
              getValueOrCreateConstantIndexOp(builder, b.loc, offsets[dim]),
              getValueOrCreateConstantIndexOp(builder, b.loc, sizes[dim]))
              .getResult();
  }
  return gradients;
}

/// The padding is not varied (the sweep refuses it where it is).
static Gradients padRule(tensor::PadOp op, Value g, ScalarBuilder &b,
                         const SmallBitVector &) {
  OpBuilder &builder = b.builder;
  Gradients gradients(op->getNumOperands());
  if (isEmptyTensor(op.getSourceType()))
    return gradients;
  SmallVector<OpFoldResult> strides(op.getSourceType().getRank(),
                                    builder.getIndexAttr(1));
  gradients[0] = tensor::ExtractSliceOp::create(
      builder, b.loc, op.getSourceType(), g, op.getMixedLowPad(),
      tensor::getMixedSizes(builder, b.loc, op.getSource()), strides);
  return gradients;
}

static Gradients extractRule(tensor::ExtractOp op, Value g, ScalarBuilder &b,
                             const SmallBitVector &) {
  Gradients gradients(op->getNumOperands());
  gradients[0] = tensor::InsertOp::create(
      b.builder, b.loc, g, zerosLike(b.builder, b.loc, op.getTensor()),
      op.getIndices());
  return gradients;
}

static Gradients insertRule(tensor::InsertOp op, Value g, ScalarBuilder &b,
                            const SmallBitVector &needed) {
  Gradients gradients(op->getNumOperands());
  if (needed[0])
    gradients[0] =
        tensor::ExtractOp::create(b.builder, b.loc, g, op.getIndices());
  if (needed[1])
    gradients[1] = tensor::InsertOp::create(
        b.builder, b.loc, zerosLike(b.builder, b.loc, op.getScalar()), g,
        op.getIndices());
  return gradients;
}

/// Sums a tensor to a scalar, in at least f32.
static Value sumOf(ScalarBuilder &b, Value tensor) {
  OpBuilder &builder = b.builder;
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = type.getElementType();
  Type wide = accumulatorType(element);
  if (wide != element) {
    type = type.clone(wide);
    tensor = arith::ExtFOp::create(builder, b.loc, type, tensor);
  }
  Value zero = arith::ConstantOp::create(
      builder, b.loc, builder.getZeroAttr(type.getElementType()));
  Value init = zerosLike(builder, b.loc, zero, type.getElementType());
  auto reduce = linalg::ReduceOp::create(
      builder, b.loc, tensor, init, llvm::to_vector(llvm::seq(type.getRank())),
      [](OpBuilder &nested, Location loc, ValueRange args) {
        Value sum = arith::AddFOp::create(nested, loc, args[0], args[1]);
        linalg::YieldOp::create(nested, loc, sum);
      });
  Value sum = tensor::ExtractOp::create(builder, b.loc, reduce.getResult(0),
                                        ValueRange{});
  if (wide != element)
    sum = arith::TruncFOp::create(builder, b.loc, element, sum);
  return sum;
}

static Gradients splatRule(tensor::SplatOp op, Value g, ScalarBuilder &b,
                           const SmallBitVector &) {
  Gradients gradients(op->getNumOperands());
  gradients[0] = sumOf(b, g);
  return gradients;
}

static Gradients fromElementsRule(tensor::FromElementsOp op, Value g,
                                  ScalarBuilder &b,
                                  const SmallBitVector &needed) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  Gradients gradients(op->getNumOperands());
  for (unsigned i : needed.set_bits()) {
    SmallVector<Value> position(shape.size());
    int64_t rest = i;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      position[dim] =
          arith::ConstantIndexOp::create(b.builder, b.loc, rest % shape[dim]);
      rest /= shape[dim];
    }
    gradients[i] = tensor::ExtractOp::create(b.builder, b.loc, g, position);
  }
  return gradients;
}

void attachTensorRules(MLIRContext *context) {
  attachRule<tensor::ConcatOp, concatRule>(context);
  attachRule<tensor::ExpandShapeOp, expandShapeRule>(context);
  attachRule<tensor::ExtractOp, extractRule>(context);
  attachRule<tensor::ExtractSliceOp, extractSliceRule>(context);
  attachRule<tensor::FromElementsOp, fromElementsRule>(context);
  attachRule<tensor::InsertOp, insertRule>(context);
  attachRule<tensor::InsertSliceOp, insertSliceRule>(context);
  attachRule<tensor::PadOp, padRule>(context);
  attachRule<tensor::SplatOp, splatRule>(context);
  attachUnaryRule<tensor::CastOp, castRule>(context);
  attachUnaryRule<tensor::CollapseShapeOp, collapseShapeRule>(context);
}

} // namespace drawloom
