//===- FloatOps.cpp - float arithmetic and mathematics --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/ScalarOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace drawloom::interpreter {

static ScalarOp unary(double (*function)(double)) {
  ScalarOp op;
  op.unary = function;
  op.function = [](const ScalarOp &op, Scalar *r) -> const char * {
    r[op.out[0]].f = op.unary(r[op.in[0]].f);
    return nullptr;
  };
  return op;
}

static ScalarOp binary(double (*function)(double, double)) {
  ScalarOp op;
  op.binary = function;
  op.function = [](const ScalarOp &op, Scalar *r) -> const char * {
    r[op.out[0]].f = op.binary(r[op.in[0]].f, r[op.in[1]].f);
    return nullptr;
  };
  return op;
}

static ScalarOp custom(ScalarOp::Function function) {
  ScalarOp op;
  op.unary = nullptr;
  op.function = function;
  return op;
}

/// IEEE 754-2019 minimum: NaN wins, -0 < +0.
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
static double maximum(double a, double b) { return -minimum(-a, -b); }

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return !unordered && a == b;
  case arith::CmpFPredicate::OGT:
    return !unordered && a > b;
  case arith::CmpFPredicate::OGE:
    return !unordered && a >= b;
  case arith::CmpFPredicate::OLT:
    return !unordered && a < b;
  case arith::CmpFPredicate::OLE:
    return !unordered && a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  llvm_unreachable("unknown predicate");
}

template <int (*classify)(double)> static ScalarOp classification() {
  return custom([](const ScalarOp &op, Scalar *r) -> const char * {
    r[op.out[0]].i = classify(r[op.in[0]].f);
    return nullptr;
  });
}
static int isFinite(double x) { return std::isfinite(x); }
static int isInf(double x) { return std::isinf(x); }
static int isNan(double x) { return std::isnan(x); }
/// Of its own type: f64 has the denormal numbers of all others as normal ones.
static const char *isNormal(const ScalarOp &op, Scalar *r) {
  auto type =
      cast<FloatType>(getElementTypeOrSelf(op.op->getOperand(0).getType()));
  double least = llvm::APFloat::getSmallestNormalized(type.getFloatSemantics())
                     .convertToDouble();
  double x = r[op.in[0]].f;
  r[op.out[0]].i = std::isfinite(x) && std::abs(x) >= least;
  return nullptr;
}

static void addArith(ScalarTable &table) {
  table["arith.addf"] = binary([](double a, double b) { return a + b; });
  table["arith.subf"] = binary([](double a, double b) { return a - b; });
  table["arith.mulf"] = binary([](double a, double b) { return a * b; });
  table["arith.divf"] = binary([](double a, double b) { return a / b; });
  table["arith.remf"] =
      binary([](double a, double b) { return std::fmod(a, b); });
  table["arith.negf"] = unary([](double a) { return -a; });
  table["arith.minimumf"] = binary(minimum);
  table["arith.maximumf"] = binary(maximum);
  table["arith.minnumf"] =
      binary([](double a, double b) { return std::fmin(a, b); });
  table["arith.maxnumf"] =
      binary([](double a, double b) { return std::fmax(a, b); });
  // Results are kept in float64: a narrower type has no rounding here.
  table["arith.extf"] = unary([](double a) { return a; });
  table["arith.truncf"] = unary([](double a) { return a; });
  table["arith.cmpf"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        r[op.out[0]].i = compare(arith::CmpFPredicate(op.predicate),
                                 r[op.in[0]].f, r[op.in[1]].f);
        return nullptr;
      });
  table["arith.select"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        r[op.out[0]] = r[op.in[0]].i ? r[op.in[1]] : r[op.in[2]];
        return nullptr;
      });
}

static void addMath(ScalarTable &table) {
  table["math.absf"] = unary([](double x) { return std::fabs(x); });
  table["math.acos"] = unary([](double x) { return std::acos(x); });
  table["math.acosh"] = unary([](double x) { return std::acosh(x); });
  table["math.asin"] = unary([](double x) { return std::asin(x); });
  table["math.asinh"] = unary([](double x) { return std::asinh(x); });
  table["math.atan"] = unary([](double x) { return std::atan(x); });
  table["math.atanh"] = unary([](double x) { return std::atanh(x); });
  table["math.cbrt"] = unary([](double x) { return std::cbrt(x); });
  table["math.ceil"] = unary([](double x) { return std::ceil(x); });
  table["math.cos"] = unary([](double x) { return std::cos(x); });
  table["math.cosh"] = unary([](double x) { return std::cosh(x); });
  table["math.erf"] = unary([](double x) { return std::erf(x); });
  table["math.erfc"] = unary([](double x) { return std::erfc(x); });
  table["math.exp"] = unary([](double x) { return std::exp(x); });
  table["math.exp2"] = unary([](double x) { return std::exp2(x); });
  table["math.expm1"] = unary([](double x) { return std::expm1(x); });
  table["math.floor"] = unary([](double x) { return std::floor(x); });
  table["math.log"] = unary([](double x) { return std::log(x); });
  table["math.log10"] = unary([](double x) { return std::log10(x); });
  table["math.log1p"] = unary([](double x) { return std::log1p(x); });
  table["math.log2"] = unary([](double x) { return std::log2(x); });
  table["math.round"] = unary([](double x) { return std::round(x); });
  // The default rounding mode is to nearest, ties to even.
  table["math.roundeven"] = unary([](double x) { return std::nearbyint(x); });
  table["math.rsqrt"] = unary([](double x) { return 1.0 / std::sqrt(x); });
  table["math.sin"] = unary([](double x) { return std::sin(x); });
  table["math.sinh"] = unary([](double x) { return std::sinh(x); });
  table["math.sqrt"] = unary([](double x) { return std::sqrt(x); });
  table["math.tan"] = unary([](double x) { return std::tan(x); });
  table["math.tanh"] = unary([](double x) { return std::tanh(x); });
  table["math.trunc"] = unary([](double x) { return std::trunc(x); });
  table["math.atan2"] =
      binary([](double y, double x) { return std::atan2(y, x); });
  table["math.copysign"] =
      binary([](double x, double s) { return std::copysign(x, s); });
  table["math.powf"] =
      binary([](double x, double y) { return std::pow(x, y); });
  table["math.isfinite"] = classification<isFinite>();
  table["math.isinf"] = classification<isInf>();
  table["math.isnan"] = classification<isNan>();
  table["math.isnormal"] = custom(isNormal);
  table["math.fma"] = custom([](const ScalarOp &op, Scalar *r) -> const char * {
    r[op.out[0]].f = std::fma(r[op.in[0]].f, r[op.in[1]].f, r[op.in[2]].f);
    return nullptr;
  });
  table["vector.fma"] = table["math.fma"];
  table["math.clampf"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        double x = r[op.in[0]].f, low = r[op.in[1]].f, high = r[op.in[2]].f;
        r[op.out[0]].f = minimum(maximum(x, low), high);
        return nullptr;
      });
  table["math.sincos"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        double x = r[op.in[0]].f;
        r[op.out[0]].f = std::sin(x);
        r[op.out[1]].f = std::cos(x);
        return nullptr;
      });
  table["math.fpowi"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        r[op.out[0]].f = std::pow(r[op.in[0]].f, double(r[op.in[1]].i));
        return nullptr;
      });
}

void addFloatScalarOps(ScalarTable &table) {
  addArith(table);
  addMath(table);
}

} // namespace drawloom::interpreter
