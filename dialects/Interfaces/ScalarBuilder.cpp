//===- ScalarBuilder.cpp - arithmetic on scalars, vectors, tensors --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace drawloom {

Value ScalarBuilder::constant(double value, Value like) {
  Type type = like.getType();
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  FloatAttr attr = builder.getFloatAttr(element, value);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return arith::ConstantOp::create(builder, loc, attr);
  if (shaped.hasStaticShape())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(shaped, attr));
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < shaped.getRank(); ++i)
    if (shaped.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(builder, loc, like, i));
  Value scalar = arith::ConstantOp::create(builder, loc, attr);
  return tensor::SplatOp::create(builder, loc, type, scalar, sizes);
}

Value ScalarBuilder::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value ScalarBuilder::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
/// The condition of `c ? 1 : 0`; null for other values.
static Value conditionOfStep(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getTrueValue(), m_OneFloat()) ||
      !matchPattern(select.getFalseValue(), m_PosZeroFloat()))
    return {};
  return select.getCondition();
}

Value ScalarBuilder::mul(Value a, Value b) {
  if (Value condition = conditionOfStep(b))
    return select(condition, a, constant(0, a));
  if (Value condition = conditionOfStep(a))
    return select(condition, b, constant(0, b));
  return arith::MulFOp::create(builder, loc, a, b);
}
static arith::FastMathFlags flags(bool approximate) {
  return approximate ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
}
Value ScalarBuilder::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b, flags(approximate));
}
Value ScalarBuilder::neg(Value a) {
  return arith::NegFOp::create(builder, loc, a);
}
Value ScalarBuilder::abs(Value a) {
  return math::AbsFOp::create(builder, loc, a);
}
Value ScalarBuilder::exp(Value a) {
  return math::ExpOp::create(builder, loc, a, flags(approximate));
}
Value ScalarBuilder::expOfDifference(Value a, Value b) {
  arith::FastMathFlags regroup =
      approximate ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
  Value difference = arith::SubFOp::create(builder, loc, a, b, regroup);
  return math::ExpOp::create(builder, loc, difference,
                             flags(approximate) | regroup);
}
Value ScalarBuilder::expm1(Value a) {
  return math::ExpM1Op::create(builder, loc, a);
}
Value ScalarBuilder::log1p(Value a) {
  return math::Log1pOp::create(builder, loc, a);
}
Value ScalarBuilder::tanh(Value a) {
  return math::TanhOp::create(builder, loc, a);
}

Value ScalarBuilder::erf(Value a) {
  return math::ErfOp::create(builder, loc, a);
}
Value ScalarBuilder::log(Value a) {
  return math::LogOp::create(builder, loc, a);
}
Value ScalarBuilder::sqrt(Value a) {
  return math::SqrtOp::create(builder, loc, a);
}
Value ScalarBuilder::roundEven(Value a) {
  return math::RoundEvenOp::create(builder, loc, a);
}
Value ScalarBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}
Value ScalarBuilder::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}
Value ScalarBuilder::maximum(Value a, Value b) {
  return arith::MaximumFOp::create(builder, loc, a, b);
}
Value ScalarBuilder::minimum(Value a, Value b) {
  return arith::MinimumFOp::create(builder, loc, a, b);
}

Value ScalarBuilder::greaterOrNan(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGT, a, b);
}

Value ScalarBuilder::less(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
}

Value ScalarBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value ScalarBuilder::widen(Value a) {
  return convert(a, computeType(getElementTypeOrSelf(a)));
}

Value ScalarBuilder::convert(Value a, Value like) {
  return convert(a, getElementTypeOrSelf(like));
}

Value ScalarBuilder::convert(Value a, Type elementType) {
  Type from = getElementTypeOrSelf(a);
  if (from == elementType)
    return a;
  Type type = elementType;
  if (auto shaped = dyn_cast<ShapedType>(a.getType()))
    type = shaped.clone(elementType);
  if (from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, a);
  return arith::TruncFOp::create(builder, loc, type, a);
}

FloatType computeType(Type elementType) {
  if (elementType.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(elementType.getContext());
  return cast<FloatType>(elementType);
}

Value ScalarBuilder::mulSign(Value g, Value x) {
  Value negative = less(x, constant(0.0, x));
  return select(negative, neg(g), g);
}

} // namespace drawloom
