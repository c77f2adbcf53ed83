//===- MathFunctions.cpp - elementary functions in f32 --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The polynomials for tanh, erf, sine and cosine are those of Cephes (S. L.
// Moshier, Methods and Programs for Mathematical Functions, 1989), single
// precision.
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
  Value constant(double value, Type element) {
    TypedAttr attr =
        isa<FloatType>(element)
            ? TypedAttr(b.getFloatAttr(element, value))
            : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value)));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector.clone(element), attr);
    return arith::ConstantOp::create(b, attr);
  }
  Value constant(double value) { return constant(value, b.getF32Type()); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value divide(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  /// x * y + z with one rounding where the machine has it.
  Value multiplyAdd(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
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
  Value exponential = math::ExpOp::create(
      e.b, arith::NegFOp::create(e.b, e.multiply(bounded, bounded)));
  Value large =
      e.subtract(one, e.multiply(exponential, e.multiply(inverse, tail)));
  return e.select(e.compare(arith::CmpFPredicate::OLT, magnitude, one), small,
                  e.copySign(large, x));
}

/// Reduces by multiples of pi/2 in f64: exact enough for every f32 below 2^51.
/// Greater ones are integers that are more than 2^27 apart: they count as 0.
/// Infinities and NaN give NaN. `shift` 1 makes a sine of a cosine. 2 ulp.
Value expandSine(Expander &e, Value x, int64_t shift) {
  Type f32 = e.b.getF32Type(), f64 = e.b.getF64Type(), i64 = e.b.getI64Type();
  // Infinite ones too must not be taken for 0: they fail one of the two.
  Value magnitude = e.abs(x);
  Value tooLarge =
      e.compare(arith::CmpFPredicate::OGT, magnitude, e.constant(0x1p51));
  Value finite = e.compare(arith::CmpFPredicate::OLT, magnitude,
                           e.constant(std::numeric_limits<float>::infinity()));
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
      e.constant(shift, i64));

  Value square = e.multiply(r, r);
  Value sine = e.polynomial(
      square, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  sine = e.multiplyAdd(e.multiply(sine, square), r, r);
  Value cosine =
      e.polynomial(square, {2.443315711809948e-5, -1.388731625493765e-3,
                            4.166664568298827e-2, -0.5, 1.0});
  auto bit = [&](int64_t mask) -> Value {
    Value bits = arith::AndIOp::create(e.b, quadrant, e.constant(mask, i64));
    return arith::CmpIOp::create(e.b, arith::CmpIPredicate::ne, bits,
                                 e.constant(0, i64));
  };
  Value value = e.select(bit(1), cosine, sine);
  return e.select(bit(2), arith::NegFOp::create(e.b, value), value);
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
      e.compare(arith::CmpFPredicate::OEQ, u,
                e.constant(std::numeric_limits<float>::infinity()));
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

} // namespace

namespace {
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
  patterns.add<ExpandClamp>(context);
  patterns.add<Expand<math::TanhOp>>(context, expandTanh);
  patterns.add<Expand<math::ErfOp>>(context, expandErf);
  patterns.add<Expand<math::Log1pOp>>(context, expandLog1p);
  patterns.add<Expand<math::ExpM1Op>>(context, expandExpm1);
  patterns.add<Expand<math::SinOp>>(
      context, [](Expander &e, Value x) { return expandSine(e, x, 0); });
  patterns.add<Expand<math::CosOp>>(
      context, [](Expander &e, Value x) { return expandSine(e, x, 1); });
}

} // namespace drawloom
