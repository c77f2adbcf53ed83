//===- MathFunctions.cpp - elementary functions in f32 --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The polynomials for tanh, erf, sine, cosine and arc tangent are those of
// Cephes (S. L. Moshier, Methods and Programs for Mathematical Functions,
// 1989), single precision.
//
//===----------------------------------------------------------------------===//

#include "codegen/MathFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace drawloom {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// Arithmetic on one shape: a number or a vector.
class Expander {
public:
  Expander(OpBuilder &builder, Location loc, Type type)
      : b(loc, builder), type(type) {}

  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value splat(TypedAttr attr) {
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector.clone(attr.getType()), attr);
    return arith::ConstantOp::create(b, attr);
  }
  Value constant(double value, Type element) {
    return splat(b.getFloatAttr(element, value));
  }
  Value constant(double value) { return constant(value, b.getF32Type()); }
  Value integer(int64_t value) { return splat(b.getI64IntegerAttr(value)); }
  Value logicalNot(Value x) {
    return arith::XOrIOp::create(b, x, splat(b.getBoolAttr(true)));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value divide(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  /// x * y + z with one rounding where the machine has it.
  Value multiplyAdd(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value negate(Value x) { return arith::NegFOp::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value copySign(Value x, Value sign) {
    return math::CopySignOp::create(b, x, sign);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// Coefficients from the highest power down.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = multiplyAdd(sum, x, constant(coefficient));
    return sum;
  }

  ImplicitLocOpBuilder b;
  Type type;
};

/// |x| < 0.625: odd polynomial; else 1 - 2 / (exp(2 |x|) + 1). 2 ulp.
Value expandTanh(Expander &e, Value x) {
  Value square = e.multiply(x, x);
  Value series = e.polynomial(square, {-5.70498872745e-3, 2.06390887954e-2,
                                       -5.37397155531e-2, 1.33314422036e-1,
                                       -3.33332819422e-1});
  Value small = e.multiplyAdd(e.multiply(series, square), x, x);
  Value magnitude = e.abs(x);
  // Above 10 the result is 1 and the exponential need not overflow.
  Value exponential = math::ExpOp::create(e.b, e.add(magnitude, magnitude));
  Value one = e.constant(1);
  Value large =
      e.subtract(one, e.divide(e.constant(2), e.add(exponential, one)));
  Value value = e.select(
      e.compare(arith::CmpFPredicate::OLT, magnitude, e.constant(0.625)), small,
      large);
  // Of zero too, which the sum of the polynomial loses.
  return e.copySign(value, x);
}

/// |x| < 1: odd polynomial; else 1 - exp(-x^2) P(1/x^2) / |x|. 2 ulp.
Value expandErf(Expander &e, Value x) {
  Value square = e.multiply(x, x);
  Value series = e.polynomial(
      square, {7.853861353153693e-5, -8.010193625184903e-4,
               5.188327685732524e-3, -2.685381193529856e-2,
               1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710});
  Value small = e.multiply(x, series);
  Value one = e.constant(1);
  Value magnitude = e.abs(x);
  // Beyond 4 the result is 1. A NaN stays one: it fails the comparison.
  Value four = e.constant(4);
  Value bounded = e.select(
      e.compare(arith::CmpFPredicate::OGT, magnitude, four), four, magnitude);
  Value inverse = e.divide(one, bounded);
  Value inverseSquare = e.multiply(inverse, inverse);
  Value near = e.polynomial(
      inverseSquare,
      {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1,
       -5.824733027278666e-1, 6.210004621745983e-1, -4.944515323274145e-1,
       3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1});
  Value far = e.polynomial(inverseSquare,
                           {-1.047766399936249e+1, 1.297719955372516e+1,
                            -7.495518717768503, 2.921019019210786,
                            -1.015265279202700, 4.218463358204948e-1,
                            -2.820767439740514e-1, 5.641895067754075e-1});
  Value tail = e.select(
      e.compare(arith::CmpFPredicate::OLT, bounded, e.constant(2)), near, far);
  Value exponential =
      math::ExpOp::create(e.b, e.negate(e.multiply(bounded, bounded)));
  Value large =
      e.subtract(one, e.multiply(exponential, e.multiply(inverse, tail)));
  return e.select(e.compare(arith::CmpFPredicate::OLT, magnitude, one), small,
                  e.copySign(large, x));
}

struct Sines {
  Value sine, cosine;
  /// Which the low bits of the quadrant name, and whether it is negative.
  Value odd, upper;
};

/// Reduces by multiples of pi/2 in f64: exact enough for every f32 below 2^51
/// (without a fused multiply-add, the rest is off by up to 2^-53 |x|). Greater
/// ones are integers that are more than 2^27 apart: they count as 0. Infinities
/// and NaN give NaN. `shift` 1 makes a sine of a cosine.
Sines reducedSines(Expander &e, Value x, int64_t shift) {
  Type f32 = e.b.getF32Type(), f64 = e.b.getF64Type(), i64 = e.b.getI64Type();
  // Infinite ones too must not be taken for 0: they fail one of the two.
  Value magnitude = e.abs(x);
  Value tooLarge =
      e.compare(arith::CmpFPredicate::OGT, magnitude, e.constant(0x1p51));
  Value finite =
      e.compare(arith::CmpFPredicate::OLT, magnitude, e.constant(infinity));
  x = e.select(arith::AndIOp::create(e.b, tooLarge, finite), e.constant(0), x);
  Value wide = arith::ExtFOp::create(e.b, e.withElement(f64), x);
  // Adding 1.5 * 2^52 rounds to an integer, which its low bits then hold.
  Value magic = e.constant(0x1.8p52, f64);
  Value shifted = e.multiply(wide, e.constant(0.63661977236758134308, f64));
  shifted = e.add(shifted, magic);
  Value turns = e.subtract(shifted, magic);
  Value rest =
      e.multiplyAdd(turns, e.constant(-1.57079632679489655800, f64), wide);
  rest =
      e.multiplyAdd(turns, e.constant(-6.12323399573676603587e-17, f64), rest);
  Value r = arith::TruncFOp::create(e.b, e.withElement(f32), rest);
  Value quadrant = arith::AddIOp::create(
      e.b, arith::BitcastOp::create(e.b, e.withElement(i64), shifted),
      e.integer(shift));

  Value square = e.multiply(r, r);
  Value sine = e.polynomial(
      square, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  sine = e.multiplyAdd(e.multiply(sine, square), r, r);
  // Of zero too, which the sum of the polynomial loses.
  sine = e.copySign(sine, r);
  Value cosine =
      e.polynomial(square, {2.443315711809948e-5, -1.388731625493765e-3,
                            4.166664568298827e-2, -0.5, 1.0});
  auto bit = [&](int64_t mask) -> Value {
    Value bits = arith::AndIOp::create(e.b, quadrant, e.integer(mask));
    return arith::CmpIOp::create(e.b, arith::CmpIPredicate::ne, bits,
                                 e.integer(0));
  };
  return {sine, cosine, bit(1), bit(2)};
}

/// 2 ulp.
Value expandSine(Expander &e, Value x, int64_t shift) {
  Sines of = reducedSines(e, x, shift);
  Value value = e.select(of.odd, of.cosine, of.sine);
  return e.select(of.upper, e.negate(value), value);
}

/// log(u) x / (u - 1) for u = 1 + x, which undoes u's rounding. 3 ulp.
Value expandLog1p(Expander &e, Value x) {
  Value one = e.constant(1);
  Value u = e.add(one, x);
  Value difference = e.subtract(u, one);
  Value logarithm = math::LogOp::create(e.b, u);
  Value corrected = e.multiply(logarithm, e.divide(x, difference));
  // u is 1 where x is lost in it; infinite ones divide by themselves.
  Value lost = e.compare(arith::CmpFPredicate::OEQ, difference, e.constant(0));
  Value infinite =
      e.compare(arith::CmpFPredicate::OEQ, u, e.constant(infinity));
  return e.select(lost, x, e.select(infinite, x, corrected));
}

/// |x| < 0.5: Taylor's series in Horner form; else exp(x) - 1. 2 ulp.
Value expandExpm1(Expander &e, Value x) {
  Value series = e.polynomial(x, {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                  1.0 / 24, 1.0 / 6, 0.5});
  Value small = e.multiplyAdd(e.multiply(series, x), x, x);
  Value exponential = math::ExpOp::create(e.b, x);
  return e.select(
      e.compare(arith::CmpFPredicate::OLT, e.abs(x), e.constant(0.5)), small,
      e.subtract(exponential, e.constant(1)));
}

/// sin / cos, or -cos / sin. 12 ulp.
Value expandTan(Expander &e, Value x) {
  Sines of = reducedSines(e, x, 0);
  return e.divide(e.select(of.odd, e.negate(of.cosine), of.sine),
                  e.select(of.odd, of.sine, of.cosine));
}

/// Of |x|, of (|x| - 1) / (|x| + 1) or of -1 / |x|, whichever is at most
/// tan(pi / 8): a polynomial. 7 ulp.
Value expandAtan(Expander &e, Value x) {
  Value magnitude = e.abs(x), one = e.constant(1);
  auto over = [&](double limit) {
    return e.compare(arith::CmpFPredicate::OGT, magnitude, e.constant(limit));
  };
  Value high = over(2.414213562373095), middle = over(0.4142135623730950);
  auto choose = [&](Value ofHigh, Value ofMiddle, Value ofLow) {
    return e.select(high, ofHigh, e.select(middle, ofMiddle, ofLow));
  };
  Value t =
      e.divide(choose(e.constant(-1), e.subtract(magnitude, one), magnitude),
               choose(magnitude, e.add(magnitude, one), one));
  Value square = e.multiply(t, t);
  Value series = e.polynomial(square, {8.05374449538e-2, -1.38776856032e-1,
                                       1.99777106478e-1, -3.33329491539e-1});
  Value rest = e.multiplyAdd(e.multiply(series, square), t, t);
  Value angle = choose(e.constant(1.57079632679489655800),
                       e.constant(0.78539816339744827900), e.constant(0));
  return e.copySign(e.add(angle, rest), x);
}

/// e^(|x| / 2) and half of its square, which reaches further than the square.
std::pair<Value, Value> halfExponential(Expander &e, Value magnitude) {
  Value half = e.constant(0.5);
  Value root = math::ExpOp::create(e.b, e.multiply(half, magnitude));
  return {root, e.multiply(e.multiply(half, root), root)};
}

/// |x| < 1: Taylor's series; else (exp(x) - exp(-x)) / 2. 9 ulp.
Value expandSinh(Expander &e, Value x) {
  Value square = e.multiply(x, x), magnitude = e.abs(x);
  Value series = e.polynomial(
      square, {1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6});
  Value small = e.multiplyAdd(e.multiply(series, square), x, x);
  auto [root, half] = halfExponential(e, magnitude);
  Value large =
      e.subtract(half, e.divide(e.constant(0.5), e.multiply(root, root)));
  return e.select(
      e.compare(arith::CmpFPredicate::OLT, magnitude, e.constant(1)), small,
      e.copySign(large, x));
}

/// (exp(x) + exp(-x)) / 2. 8 ulp.
Value expandCosh(Expander &e, Value x) {
  auto [root, half] = halfExponential(e, e.abs(x));
  return e.add(half, e.divide(e.constant(0.5), e.multiply(root, root)));
}

/// log(2 x) where 1 is lost beside x^2.
Value logOfTwice(Expander &e, Value x) {
  return e.add(math::LogOp::create(e.b, x),
               e.constant(0.693147180559945309417));
}

/// log(1 + |x| + x^2 / (1 + sqrt(1 + x^2))). 11 ulp.
Value expandAsinh(Expander &e, Value x) {
  Value magnitude = e.abs(x), one = e.constant(1);
  Value square = e.multiply(x, x);
  Value root = math::SqrtOp::create(e.b, e.add(one, square));
  Value sum = e.add(magnitude, e.divide(square, e.add(one, root)));
  Value value = e.select(
      e.compare(arith::CmpFPredicate::OGT, magnitude, e.constant(0x1p13)),
      logOfTwice(e, magnitude), math::Log1pOp::create(e.b, sum));
  return e.copySign(value, x);
}

/// log(1 + t + sqrt(t (t + 2))) where t = x - 1. 10 ulp.
Value expandAcosh(Expander &e, Value x) {
  Value one = e.constant(1), t = e.subtract(x, one);
  Value root =
      math::SqrtOp::create(e.b, e.multiply(t, e.add(t, e.constant(2))));
  Value value =
      e.select(e.compare(arith::CmpFPredicate::OGT, x, e.constant(0x1p13)),
               logOfTwice(e, x), math::Log1pOp::create(e.b, e.add(t, root)));
  return e.select(e.compare(arith::CmpFPredicate::OLT, x, one),
                  e.constant(notANumber), value);
}

/// log(1 + 2 |x| / (1 - |x|)) / 2. 11 ulp.
Value expandAtanh(Expander &e, Value x) {
  Value magnitude = e.abs(x);
  Value ratio = e.divide(e.add(magnitude, magnitude),
                         e.subtract(e.constant(1), magnitude));
  Value value = e.multiply(e.constant(0.5), math::Log1pOp::create(e.b, ratio));
  return e.copySign(value, x);
}

/// 5 ulp.
Value expandLog10(Expander &e, Value x) {
  return e.multiply(math::LogOp::create(e.b, x),
                    e.constant(0.434294481903251827651));
}

/// log2 |x| in f64, to 2^-33 of itself: the exponent, and the logarithm of the
/// rest m, in [sqrt(1/2), sqrt(2)), by its series in (m - 1) / (m + 1). Of 0
/// and infinity it is infinite.
Value wideLog2(Expander &e, Value x) {
  Type f64 = e.b.getF64Type(), i64 = e.b.getI64Type();
  Value wide = arith::ExtFOp::create(e.b, e.withElement(f64), e.abs(x));
  Value bits = arith::BitcastOp::create(e.b, e.withElement(i64), wide);
  // What the bits of sqrt(1/2) are taken away from counts m in its exponent.
  constexpr int64_t rootHalf = 0x3fe6a09e667f3bcd, mantissa = 0xfffffffffffff;
  Value offset = arith::SubIOp::create(e.b, bits, e.integer(rootHalf));
  Value exponent = arith::ShRSIOp::create(e.b, offset, e.integer(52));
  Value rest = arith::AndIOp::create(e.b, offset, e.integer(mantissa));
  Value m = arith::BitcastOp::create(
      e.b, e.withElement(f64),
      arith::AddIOp::create(e.b, rest, e.integer(rootHalf)));
  Value one = e.constant(1, f64);
  Value s = e.divide(e.subtract(m, one), e.add(m, one));
  Value square = e.multiply(s, s);
  Value series = e.constant(1.0 / 17, f64);
  for (int power = 15; power >= 1; power -= 2)
    series = e.multiplyAdd(series, square, e.constant(1.0 / power, f64));
  // 2 / ln 2.
  Value logarithm = e.multiplyAdd(
      e.multiply(series, s), e.constant(2.88539008177792681472, f64),
      arith::SIToFPOp::create(e.b, e.withElement(f64), exponent));
  Value limit = e.constant(infinity, f64);
  logarithm = e.select(e.compare(arith::CmpFPredicate::OLT, wide, limit),
                       logarithm, wide);
  return e.select(
      e.compare(arith::CmpFPredicate::OEQ, wide, e.constant(0, f64)),
      e.constant(-infinity, f64), logarithm);
}

/// 2^t of a t in f64, as f32: its fraction's power in f32, the rest by the
/// exponent in f64, and one rounding where the result has fewer digits.
Value narrowExp2(Expander &e, Value t) {
  Type f32 = e.b.getF32Type(), f64 = e.b.getF64Type(), i64 = e.b.getI64Type();
  for (auto [predicate, limit] : {std::pair(arith::CmpFPredicate::OGT, 300.0),
                                  std::pair(arith::CmpFPredicate::OLT, -300.0)})
    t = e.select(e.compare(predicate, t, e.constant(limit, f64)),
                 e.constant(limit, f64), t);
  Value magic = e.constant(0x1.8p52, f64);
  Value shifted = e.add(t, magic);
  Value fraction = e.subtract(t, e.subtract(shifted, magic));
  Value power = math::Exp2Op::create(
      e.b, arith::TruncFOp::create(e.b, e.withElement(f32), fraction));
  Value bits = arith::ShLIOp::create(
      e.b, arith::BitcastOp::create(e.b, e.withElement(i64), shifted),
      e.integer(52));
  bits = arith::AddIOp::create(e.b, bits, e.integer(0x3ff0000000000000));
  Value scaled =
      e.multiply(arith::ExtFOp::create(e.b, e.withElement(f64), power),
                 arith::BitcastOp::create(e.b, e.withElement(f64), bits));
  return arith::TruncFOp::create(e.b, e.withElement(f32), scaled);
}

/// 2^(y log2 |x|), the logarithm and the product in f64, and C's special
/// values. 3 ulp.
Value expandPower(Expander &e, Value x, Value y) {
  Type f32 = e.b.getF32Type(), f64 = e.b.getF64Type();
  using Predicate = arith::CmpFPredicate;
  auto either = [&](Value a, Value b) -> Value {
    return arith::OrIOp::create(e.b, a, b);
  };
  auto both = [&](Value a, Value b) -> Value {
    return arith::AndIOp::create(e.b, a, b);
  };
  Value zero = e.constant(0), one = e.constant(1);
  Value logarithm = wideLog2(e, x);
  Value exponent =
      e.multiply(arith::ExtFOp::create(e.b, e.withElement(f64), y), logarithm);
  // |x|^0 and 1^y are 1 even of NaN.
  Value isOne = either(e.compare(Predicate::OEQ, y, zero),
                       e.compare(Predicate::OEQ, e.abs(x), one));
  Value power = narrowExp2(e, e.select(isOne, e.constant(0, f64), exponent));
  // Of a negative number by what y is.
  auto isWhole = [&](Value value) {
    return e.compare(Predicate::OEQ, math::TruncOp::create(e.b, value), value);
  };
  Value whole = isWhole(y);
  Value even = isWhole(e.multiply(e.constant(0.5), y));
  Value isOdd = both(whole, e.logicalNot(even));
  Value negative = e.compare(Predicate::OLT, e.copySign(one, x), zero);
  power = e.select(both(negative, isOdd), e.negate(power), power);
  Value undefined =
      both(both(e.compare(Predicate::OLT, x, zero),
                e.compare(Predicate::OGT, x, e.constant(-infinity, f32))),
           e.logicalNot(whole));
  return e.select(undefined, e.constant(notANumber), power);
}

template <typename OpTy> struct Expand : OpRewritePattern<OpTy> {
  using Function = Value (*)(Expander &, Value);
  Expand(MLIRContext *context, Function function)
      // Above the upstream patterns' 1.
      : OpRewritePattern<OpTy>(context, /*benefit=*/2), function(function) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() || isa<TensorType>(type))
      return failure();
    Expander expander(rewriter, op.getLoc(), type);
    rewriter.replaceOp(op, function(expander, op.getOperand()));
    return success();
  }

  Function function;
};

struct ExpandPower : OpRewritePattern<math::PowFOp> {
  ExpandPower(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() || isa<TensorType>(type))
      return failure();
    Expander expander(rewriter, op.getLoc(), type);
    rewriter.replaceOp(op, expandPower(expander, op.getLhs(), op.getRhs()));
    return success();
  }
};

/// NaN stays, as from the limits' own ops.
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                             op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
    return success();
  }
};

/// Classes by comparisons of the magnitude with the limits of its type. f32 has
/// all numbers of f16 and bf16.
template <typename OpTy> struct ExpandClass : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(x.getType()));
    if (!element || isa<TensorType>(x.getType()))
      return failure();
    Expander e(rewriter, op.getLoc(), x.getType());
    Type wide = element;
    if (element.getWidth() < 32) {
      wide = e.b.getF32Type();
      x = arith::ExtFOp::create(e.b, e.withElement(wide), x);
    }
    Value limit = e.constant(infinity, wide);
    using Predicate = arith::CmpFPredicate;
    Value result;
    if constexpr (std::is_same_v<OpTy, math::IsNaNOp>) {
      result = e.compare(Predicate::UNO, x, x);
    } else if constexpr (std::is_same_v<OpTy, math::IsInfOp>) {
      result = e.compare(Predicate::OEQ, e.abs(x), limit);
    } else {
      result = e.compare(Predicate::OLT, e.abs(x), limit);
      if constexpr (std::is_same_v<OpTy, math::IsNormalOp>) {
        double least =
            llvm::APFloat::getSmallestNormalized(element.getFloatSemantics())
                .convertToDouble();
        result = arith::AndIOp::create(
            e.b, result,
            e.compare(Predicate::OGE, e.abs(x), e.constant(least, wide)));
      }
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void populateMathExpansions(RewritePatternSet &patterns, bool all) {
  populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
  // Not the reciprocal square root, whose expansion is an op of AVX2.
  static const StringRef inaccurate[] = {
      math::AsinOp::getOperationName(), math::AtanOp::getOperationName(),
      math::Atan2Op::getOperationName(), math::CbrtOp::getOperationName()};
  populateMathPolynomialApproximationPatterns(patterns, [all](StringRef name) {
    return name != math::RsqrtOp::getOperationName() &&
           (all || !llvm::is_contained(inaccurate, name));
  });
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandClamp, ExpandClass<math::IsFiniteOp>,
               ExpandClass<math::IsInfOp>, ExpandClass<math::IsNaNOp>,
               ExpandClass<math::IsNormalOp>>(context);
  patterns.add<Expand<math::TanhOp>>(context, expandTanh);
  patterns.add<Expand<math::ErfOp>>(context, expandErf);
  patterns.add<Expand<math::Log1pOp>>(context, expandLog1p);
  patterns.add<Expand<math::ExpM1Op>>(context, expandExpm1);
  patterns.add<Expand<math::SinOp>>(
      context, [](Expander &e, Value x) { return expandSine(e, x, 0); });
  patterns.add<Expand<math::CosOp>>(
      context, [](Expander &e, Value x) { return expandSine(e, x, 1); });
  if (!all)
    return;
  patterns.add<Expand<math::TanOp>>(context, expandTan);
  patterns.add<Expand<math::AtanOp>>(context, expandAtan);
  patterns.add<Expand<math::SinhOp>>(context, expandSinh);
  patterns.add<Expand<math::CoshOp>>(context, expandCosh);
  patterns.add<Expand<math::AsinhOp>>(context, expandAsinh);
  patterns.add<Expand<math::AcoshOp>>(context, expandAcosh);
  patterns.add<Expand<math::AtanhOp>>(context, expandAtanh);
  patterns.add<Expand<math::Log10Op>>(context, expandLog10);
  patterns.add<ExpandPower>(context);
}

} // namespace drawloom
