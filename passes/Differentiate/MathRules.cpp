//===- MathRules.cpp - derivatives of math --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Differentiate/Rules.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using llvm::SmallBitVector;

namespace drawloom {

template <typename OpTy> static Value build(ScalarBuilder &b, Value x) {
  return OpTy::create(b.builder, b.loc, x);
}

static Value squareOf(ScalarBuilder &b, Value x) { return b.mul(x, x); }

// In the comments x is the operand, y the result, g the cotangent of y.

static Value absRule(math::AbsFOp op, Value g, ScalarBuilder &b) {
  return b.mulSign(g, op.getOperand());
}
static Value expRule(math::ExpOp op, Value g, ScalarBuilder &b) {
  return b.mul(g, op.getResult());
}
static Value exp2Rule(math::Exp2Op op, Value g, ScalarBuilder &b) {
  return b.mul(b.mul(g, op.getResult()), llvm::numbers::ln2);
}
static Value expm1Rule(math::ExpM1Op op, Value g, ScalarBuilder &b) {
  // Not g (y + 1), which loses all digits where x is very negative.
  return b.mul(g, b.exp(op.getOperand()));
}
static Value logRule(math::LogOp op, Value g, ScalarBuilder &b) {
  return b.div(g, op.getOperand());
}
static Value log2Rule(math::Log2Op op, Value g, ScalarBuilder &b) {
  return b.div(g, b.mul(op.getOperand(), llvm::numbers::ln2));
}
static Value log10Rule(math::Log10Op op, Value g, ScalarBuilder &b) {
  return b.div(g, b.mul(op.getOperand(), llvm::numbers::ln10));
}
static Value log1pRule(math::Log1pOp op, Value g, ScalarBuilder &b) {
  return b.div(g, b.add(op.getOperand(), 1.0));
}
/// g / (2 y): infinite at 0, and NaN there for g = 0, as in PyTorch.
static Value sqrtRule(math::SqrtOp op, Value g, ScalarBuilder &b) {
  return b.div(g, b.mul(op.getResult(), 2.0));
}
/// -g y^3 / 2.
static Value rsqrtRule(math::RsqrtOp op, Value g, ScalarBuilder &b) {
  Value y = op.getResult();
  return b.mul(b.mul(g, b.mul(squareOf(b, y), y)), -0.5);
}
/// g / (3 y^2).
static Value cbrtRule(math::CbrtOp op, Value g, ScalarBuilder &b) {
  return b.div(g, b.mul(squareOf(b, op.getResult()), 3.0));
}
static Value sinRule(math::SinOp op, Value g, ScalarBuilder &b) {
  return b.mul(g, build<math::CosOp>(b, op.getOperand()));
}
static Value cosRule(math::CosOp op, Value g, ScalarBuilder &b) {
  return b.neg(b.mul(g, build<math::SinOp>(b, op.getOperand())));
}
/// g (1 + y^2).
static Value tanRule(math::TanOp op, Value g, ScalarBuilder &b) {
  return b.mul(g, b.add(squareOf(b, op.getResult()), 1.0));
}
static Value sinhRule(math::SinhOp op, Value g, ScalarBuilder &b) {
  return b.mul(g, build<math::CoshOp>(b, op.getOperand()));
}
static Value coshRule(math::CoshOp op, Value g, ScalarBuilder &b) {
  return b.mul(g, build<math::SinhOp>(b, op.getOperand()));
}
/// g (1 - y^2).
static Value tanhRule(math::TanhOp op, Value g, ScalarBuilder &b) {
  return b.mul(g, b.sub(1.0, squareOf(b, op.getResult())));
}
/// (1 - x)(1 + x): keeps its digits near x = 1, which 1 - x^2 does not.
static Value oneMinusSquare(ScalarBuilder &b, Value x) {
  Value less = b.sub(1.0, x);
  return b.mul(less, b.add(x, 1.0));
}
static Value sqrtOneMinusSquare(ScalarBuilder &b, Value x) {
  return build<math::SqrtOp>(b, oneMinusSquare(b, x));
}
static Value asinRule(math::AsinOp op, Value g, ScalarBuilder &b) {
  return b.div(g, sqrtOneMinusSquare(b, op.getOperand()));
}
static Value acosRule(math::AcosOp op, Value g, ScalarBuilder &b) {
  return b.neg(b.div(g, sqrtOneMinusSquare(b, op.getOperand())));
}
static Value atanRule(math::AtanOp op, Value g, ScalarBuilder &b) {
  return b.div(g, b.add(squareOf(b, op.getOperand()), 1.0));
}
static Value asinhRule(math::AsinhOp op, Value g, ScalarBuilder &b) {
  return b.div(
      g, build<math::SqrtOp>(b, b.add(squareOf(b, op.getOperand()), 1.0)));
}
static Value acoshRule(math::AcoshOp op, Value g, ScalarBuilder &b) {
  Value x = op.getOperand();
  Value less = b.add(x, -1.0);
  return b.div(g, build<math::SqrtOp>(b, b.mul(less, b.add(x, 1.0))));
}
static Value atanhRule(math::AtanhOp op, Value g, ScalarBuilder &b) {
  return b.div(g, oneMinusSquare(b, op.getOperand()));
}
/// g (2 / sqrt(pi)) exp(-x^2), and its negative.
static Value gaussian(ScalarBuilder &b, Value x, Value g, double sign) {
  return b.mul(b.mul(g, b.exp(b.neg(squareOf(b, x)))),
               sign * 2.0 * llvm::numbers::inv_sqrtpi);
}
static Value erfRule(math::ErfOp op, Value g, ScalarBuilder &b) {
  return gaussian(b, op.getOperand(), g, 1.0);
}
static Value erfcRule(math::ErfcOp op, Value g, ScalarBuilder &b) {
  return gaussian(b, op.getOperand(), g, -1.0);
}

/// y = atan2(s, c): ds = g c / (s^2 + c^2), dc = -g s / (s^2 + c^2).
static Gradients atan2Rule(math::Atan2Op op, Value g, ScalarBuilder &b,
                           const SmallBitVector &needed) {
  Value s = op.getLhs(), c = op.getRhs();
  Value square = squareOf(b, s);
  Value scaled = b.div(g, b.add(square, squareOf(b, c)));
  return {needed[0] ? b.mul(scaled, c) : Value(),
          needed[1] ? b.neg(b.mul(scaled, s)) : Value()};
}

static Gradients fmaRule(math::FmaOp op, Value g, ScalarBuilder &b,
                         const SmallBitVector &needed) {
  return {needed[0] ? b.mul(g, op.getB()) : Value(),
          needed[1] ? b.mul(g, op.getA()) : Value(), g};
}

/// dx = g p x^(p-1), and 0 where p = 0 (else 0 times infinity at x = 0);
/// dp = g y log x, and 0 where x = 0 and p >= 0. Both as in PyTorch.
static Gradients powRule(math::PowFOp op, Value g, ScalarBuilder &b,
                         const SmallBitVector &needed) {
  using arith::CmpFPredicate;
  Value x = op.getLhs(), p = op.getRhs();
  Value zero = b.constant(0.0, x);
  auto compare = [&](CmpFPredicate predicate, Value value) -> Value {
    return arith::CmpFOp::create(b.builder, b.loc, predicate, value, zero);
  };
  Gradients gradients(2);
  if (needed[0]) {
    Value power = math::PowFOp::create(b.builder, b.loc, x, b.add(p, -1.0));
    Value constant = compare(CmpFPredicate::OEQ, p);
    gradients[0] = b.select(constant, zero, b.mul(g, b.mul(p, power)));
  }
  if (needed[1]) {
    Value atZero = compare(CmpFPredicate::OEQ, x);
    Value flat = arith::AndIOp::create(b.builder, b.loc, atZero,
                                       compare(CmpFPredicate::OGE, p));
    Value slope = b.mul(op.getResult(), build<math::LogOp>(b, x));
    gradients[1] = b.select(flat, zero, b.mul(g, slope));
  }
  return gradients;
}

/// copysign(x, s): g where the sign of x is kept, -g where it is turned.
static Gradients copySignRule(math::CopySignOp op, Value g, ScalarBuilder &b,
                              const SmallBitVector &) {
  Value one = b.constant(1.0, g);
  auto signOf = [&](Value v) -> Value {
    return math::CopySignOp::create(b.builder, b.loc, one, v);
  };
  Value sign = signOf(op.getLhs());
  return {b.mul(g, b.mul(sign, signOf(op.getRhs()))), Value()};
}

/// The gradient goes to the bound that was reached, else to the value; on a
/// bound it stays with the value, as in PyTorch. Where the lower bound is above
/// the upper one, the result is the upper one.
static Gradients clampRule(math::ClampFOp op, Value g, ScalarBuilder &b,
                           const SmallBitVector &needed) {
  Value zero = b.constant(0.0, g);
  Value below = b.less(op.getValue(), op.getMin());
  Value above = b.less(
      op.getMax(),
      arith::MaximumFOp::create(b.builder, b.loc, op.getValue(), op.getMin()));
  return {b.select(above, zero, b.select(below, zero, g)),
          needed[1] ? b.select(above, zero, b.select(below, g, zero)) : Value(),
          needed[2] ? b.select(above, g, zero) : Value()};
}

/// x^n for an integer n: g n x^(n-1), and 0 where n = 0.
static Gradients fpowiRule(math::FPowIOp op, Value g, ScalarBuilder &b,
                           const SmallBitVector &) {
  Value x = op.getLhs(), n = op.getRhs();
  OpBuilder &builder = b.builder;
  Value zero = arith::ConstantOp::create(builder, b.loc,
                                         builder.getZeroAttr(n.getType()));
  Type element = getElementTypeOrSelf(n.getType());
  TypedAttr oneAttr = builder.getIntegerAttr(element, 1);
  if (auto shaped = dyn_cast<ShapedType>(n.getType()))
    oneAttr = DenseElementsAttr::get(shaped, Attribute(oneAttr));
  Value one = arith::ConstantOp::create(builder, b.loc, oneAttr);
  Value power = math::FPowIOp::create(
      builder, b.loc, x, arith::SubIOp::create(builder, b.loc, n, one));
  Value scale = arith::SIToFPOp::create(builder, b.loc, x.getType(), n);
  Value isZero =
      arith::CmpIOp::create(builder, b.loc, arith::CmpIPredicate::eq, n, zero);
  Value none = b.constant(0.0, g);
  return {b.select(isZero, none, b.mul(g, b.mul(scale, power))), Value()};
}

namespace {
/// s, c = sincos(x): dx = g_s c - g_c s.
struct SincosModel
    : DifferentiableOpInterface::ExternalModel<SincosModel, math::SincosOp> {
  FailureOr<Gradients> buildVjp(Operation *op, OpBuilder &builder,
                                ValueRange cotangents,
                                const SmallBitVector &) const {
    auto sincos = cast<math::SincosOp>(op);
    ScalarBuilder b(builder, op->getLoc());
    Value fromSin, fromCos;
    if (cotangents[0])
      fromSin = b.mul(cotangents[0], sincos.getCos());
    if (cotangents[1])
      fromCos = b.neg(b.mul(cotangents[1], sincos.getSin()));
    if (!fromSin || !fromCos)
      return Gradients{fromSin ? fromSin : fromCos};
    return Gradients{b.add(fromSin, fromCos)};
  }
};
} // namespace

void attachMathRules(MLIRContext *context) {
  attachUnaryRule<math::AbsFOp, absRule>(context);
  attachUnaryRule<math::AcosOp, acosRule>(context);
  attachUnaryRule<math::AcoshOp, acoshRule>(context);
  attachUnaryRule<math::AsinOp, asinRule>(context);
  attachUnaryRule<math::AsinhOp, asinhRule>(context);
  attachUnaryRule<math::AtanOp, atanRule>(context);
  attachUnaryRule<math::AtanhOp, atanhRule>(context);
  attachUnaryRule<math::CbrtOp, cbrtRule>(context);
  attachUnaryRule<math::CosOp, cosRule>(context);
  attachUnaryRule<math::CoshOp, coshRule>(context);
  attachUnaryRule<math::ErfOp, erfRule>(context);
  attachUnaryRule<math::ErfcOp, erfcRule>(context);
  attachUnaryRule<math::ExpOp, expRule>(context);
  attachUnaryRule<math::Exp2Op, exp2Rule>(context);
  attachUnaryRule<math::ExpM1Op, expm1Rule>(context);
  attachUnaryRule<math::LogOp, logRule>(context);
  attachUnaryRule<math::Log10Op, log10Rule>(context);
  attachUnaryRule<math::Log1pOp, log1pRule>(context);
  attachUnaryRule<math::Log2Op, log2Rule>(context);
  attachUnaryRule<math::RsqrtOp, rsqrtRule>(context);
  attachUnaryRule<math::SinOp, sinRule>(context);
  attachUnaryRule<math::SinhOp, sinhRule>(context);
  attachUnaryRule<math::SqrtOp, sqrtRule>(context);
  attachUnaryRule<math::TanOp, tanRule>(context);
  attachUnaryRule<math::TanhOp, tanhRule>(context);
  attachRule<math::Atan2Op, atan2Rule>(context);
  attachRule<math::ClampFOp, clampRule>(context);
  attachRule<math::CopySignOp, copySignRule>(context);
  attachRule<math::FPowIOp, fpowiRule>(context);
  attachRule<math::FmaOp, fmaRule>(context);
  attachRule<math::PowFOp, powRule>(context);
  math::SincosOp::attachInterface<SincosModel>(*context);
  attachZeroRules<math::CeilOp, math::FloorOp, math::RoundEvenOp, math::RoundOp,
                  math::TruncOp>(context);
}

} // namespace drawloom
