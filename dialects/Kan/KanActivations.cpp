//===- KanActivations.cpp - formulas of the fixed activations -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Kan/Kan.h"
#include <cmath>

using namespace mlir;

namespace drawloom::kan {

constexpr double pi = 3.14159265358979323846;

//===----------------------------------------------------------------------===//
// Piecewise polynomials
//===----------------------------------------------------------------------===//

// The two derivatives compare once more: differentiating the formula would
// keep the comparison, as a tensor of i1, from the forward to the backward
// pass.
static Value stepFrom(ScalarBuilder &b, Value x, double low) {
  Value positive = b.greaterOrNan(x, b.constant(0.0, x));
  Value one = b.constant(1.0, x);
  return b.select(positive, one, b.constant(low, x));
}

Value ReluOp::expand(ScalarBuilder &b, Value x) {
  Value zero = b.constant(0.0, x);
  return b.select(b.greaterOrNan(x, zero), x, zero);
}
// Of the result, which the next layer's gradient needs anyway: x need not wait
// for the backward pass. NaN is above 0 in both.
Value ReluOp::derivative(ScalarBuilder &b, Value) {
  return stepFrom(b, b.widen(getY()), 0.0);
}
double ReluOp::evaluate(double x) { return x > 0 || std::isnan(x) ? x : 0; }

Value LeakyReluOp::expand(ScalarBuilder &b, Value x) {
  Value positive = b.greaterOrNan(x, b.constant(0.0, x));
  return b.select(positive, x, b.mul(x, getSlope().convertToDouble()));
}
Value LeakyReluOp::derivative(ScalarBuilder &b, Value x) {
  return stepFrom(b, x, getSlope().convertToDouble());
}
double LeakyReluOp::evaluate(double x) {
  return x > 0 ? x : getSlope().convertToDouble() * x;
}

Value SquareOp::expand(ScalarBuilder &b, Value x) { return b.mul(x, x); }
double SquareOp::evaluate(double x) { return x * x; }

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

// The exponentials are taken of min(x, 0): the branch that is not selected has
// to be finite too, because its gradient is multiplied by 0.
Value EluOp::expand(ScalarBuilder &b, Value x) {
  Value zero = b.constant(0.0, x);
  Value curve = b.expm1(b.minimum(x, zero));
  curve = b.mul(curve, getAlpha().convertToDouble());
  return b.select(b.greaterOrNan(x, zero), x, curve);
}
Value EluOp::derivative(ScalarBuilder &b, Value x) {
  Value zero = b.constant(0.0, x);
  Value slope = b.mul(b.exp(b.minimum(x, zero)), getAlpha().convertToDouble());
  Value positive = b.greaterOrNan(x, zero);
  return b.select(positive, b.constant(1.0, x), slope);
}
double EluOp::evaluate(double x) {
  return x > 0 ? x : getAlpha().convertToDouble() * std::expm1(x);
}

// exp is only taken of -|x|: it lies in [0, 1] whatever x is.
Value SigmoidOp::expand(ScalarBuilder &b, Value x) {
  Value e = b.exp(b.neg(b.abs(x)));
  Value one = b.constant(1.0, x);
  Value numerator = b.select(b.less(x, b.constant(0.0, x)), e, one);
  return b.div(numerator, b.add(e, one));
}
Value SigmoidOp::derivative(ScalarBuilder &b, Value x) {
  // The result says all, unless it is rounded more than x.
  Value s = getY();
  if (s.getType() != x.getType())
    s = SigmoidOp::create(b.builder, b.loc, x);
  return b.mul(s, b.sub(1.0, s));
}
double SigmoidOp::evaluate(double x) { return 1 / (1 + std::exp(-x)); }

Value SiluOp::expand(ScalarBuilder &b, Value x) {
  return b.mul(x, SigmoidOp::create(b.builder, b.loc, x));
}
Value SiluOp::derivative(ScalarBuilder &b, Value x) {
  Value s = SigmoidOp::create(b.builder, b.loc, x);
  return b.mul(s, b.add(b.mul(x, b.sub(1.0, s)), 1.0));
}
double SiluOp::evaluate(double x) { return x / (1 + std::exp(-x)); }

Value SoftplusOp::expand(ScalarBuilder &b, Value x) {
  double beta = getBeta().convertToDouble();
  Value z = b.mul(x, beta);
  Value positivePart = b.maximum(z, b.constant(0.0, z));
  Value rest = b.log1p(b.exp(b.neg(b.abs(z))));
  return b.mul(b.add(positivePart, rest), 1 / beta);
}
Value SoftplusOp::derivative(ScalarBuilder &b, Value x) {
  Value z = b.mul(x, getBeta().convertToDouble());
  return SigmoidOp::create(b.builder, b.loc, z);
}
double SoftplusOp::evaluate(double x) {
  double z = getBeta().convertToDouble() * x;
  return (std::fmax(z, 0) + std::log1p(std::exp(-std::fabs(z)))) /
         getBeta().convertToDouble();
}
LogicalResult SoftplusOp::verify() {
  if (!(getBeta().convertToDouble() > 0))
    return emitOpError("beta must be positive");
  return success();
}

Value TanhOp::expand(ScalarBuilder &b, Value x) { return b.tanh(x); }
double TanhOp::evaluate(double x) { return std::tanh(x); }

Value GeluOp::expand(ScalarBuilder &b, Value x) {
  Value curve;
  if (getApproximate() == "none") {
    curve = b.erf(b.mul(x, std::sqrt(0.5)));
  } else {
    Value cubic = b.mul(b.mul(b.mul(x, x), x), 0.044715);
    curve = b.tanh(b.mul(b.add(x, cubic), std::sqrt(2 / pi)));
  }
  Value half = b.mul(x, 0.5);
  return b.mul(half, b.add(curve, 1.0));
}
double GeluOp::evaluate(double x) {
  if (getApproximate() == "none")
    return x / 2 * std::erfc(-x * std::sqrt(0.5));
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}

//===----------------------------------------------------------------------===//
// Sines
//===----------------------------------------------------------------------===//

/// x less the nearest even integer, in [-1, 1]; no step rounds.
static Value reduceToPeriod(ScalarBuilder &b, Value x) {
  return b.sub(x, b.mul(b.roundEven(b.mul(x, 0.5)), 2.0));
}

/// sin(pi a) for |a| <= 1/2: minimax polynomials in a^2, relative error below
/// 5.4e-9 for f32 and 2.6e-19 for f64 (before rounding).
static Value sinpiPolynomial(ScalarBuilder &b, Value a) {
  static constexpr double forF32[] = {
      3.1415926368957556511, -5.1677096847978135772, 2.5500697263278927318,
      -0.59824212670490692779, 0.077560388025094902636};
  static constexpr double forF64[] = {
      3.1415926535897932377,     -5.1677127800499695287,
      2.5501640398772939393,     -0.59926452931873822797,
      0.082145886569892558004,   -0.0073704304787608602059,
      0.00046629968876258030179, -0.000021903185390948679094,
      7.694727013928894138e-7};
  ArrayRef<double> coefficients =
      getElementTypeOrSelf(a).isF64() ? ArrayRef(forF64) : ArrayRef(forF32);
  Value square = b.mul(a, a);
  Value sum = b.constant(coefficients.back(), a);
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = b.fma(sum, square, b.constant(c, a));
  return b.mul(sum, a);
}

// sin(pi r) = sin(pi (1 - |r|)) with the sign of r.
Value SinpiOp::expand(ScalarBuilder &b, Value x) {
  Value r = reduceToPeriod(b, x);
  Value distance = b.abs(r);
  Value folded = b.minimum(distance, b.sub(1.0, distance));
  return b.copySign(sinpiPolynomial(b, folded), r);
}
Value SinpiOp::derivative(ScalarBuilder &b, Value x) {
  return b.mul(CospiOp::create(b.builder, b.loc, x), pi);
}
double SinpiOp::evaluate(double x) {
  return std::sin(pi * (x - 2 * std::nearbyint(x / 2)));
}

// cos(pi r) = sin(pi (1/2 - |r|)).
Value CospiOp::expand(ScalarBuilder &b, Value x) {
  return sinpiPolynomial(b, b.sub(0.5, b.abs(reduceToPeriod(b, x))));
}
Value CospiOp::derivative(ScalarBuilder &b, Value x) {
  return b.mul(SinpiOp::create(b.builder, b.loc, x), -pi);
}
double CospiOp::evaluate(double x) {
  return std::cos(pi * (x - 2 * std::nearbyint(x / 2)));
}

Value SineOp::expand(ScalarBuilder &b, Value x) {
  Value z = b.mul(x, getOmega().convertToDouble() / pi);
  return SinpiOp::create(b.builder, b.loc, z);
}
double SineOp::evaluate(double x) {
  return std::sin(getOmega().convertToDouble() * x);
}

Value SnakeOp::expand(ScalarBuilder &b, Value x) {
  Value wave = SineOp::create(b.builder, b.loc, x.getType(), x, getAlphaAttr());
  Value scaled = b.mul(wave, 1 / getAlpha().convertToDouble());
  return b.fma(scaled, wave, x);
}
double SnakeOp::evaluate(double x) {
  double alpha = getAlpha().convertToDouble();
  return x + std::pow(std::sin(alpha * x), 2) / alpha;
}
LogicalResult SnakeOp::verify() {
  if (!(getAlpha().convertToDouble() > 0))
    return emitOpError("alpha must be positive");
  return success();
}

//===----------------------------------------------------------------------===//
// What all of them share
//===----------------------------------------------------------------------===//

template <typename Op>
static FailureOr<SmallVector<Value>> decomposeActivation(Op op,
                                                         OpBuilder &builder) {
  ScalarBuilder b(builder, op.getLoc());
  Value y = op.expand(b, b.widen(op.getX()));
  return SmallVector<Value>{b.convert(y, op.getX())};
}

template <typename Op>
static FailureOr<SmallVector<Value>>
differentiateActivation(Op op, OpBuilder &builder, Value cotangent) {
  ScalarBuilder b(builder, op.getLoc());
  Value slope = op.derivative(b, b.widen(op.getX()));
  Value gradient = b.mul(b.widen(cotangent), slope);
  return SmallVector<Value>{b.convert(gradient, op.getX())};
}

template <typename Op>
static LogicalResult interpretActivation(Op op, ArrayRef<HostTensor> operands,
                                         SmallVectorImpl<HostTensor> &results) {
  results.push_back(
      mapElements(operands[0], [&](double x) { return op.evaluate(x); }));
  return success();
}

} // namespace drawloom::kan

using namespace drawloom::kan;

#define GET_OP_CLASSES
#include "dialects/Kan/KanOps.cpp.inc"
