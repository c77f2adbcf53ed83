//===- Formula.h - formulas that are evaluated or written -------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One template serves both the interpreter, which computes with doubles, and
// the compiler, which builds ops: a formula is instantiated with `double` and
// with `Written`.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_KAN_FORMULA_H
#define DRAWLOOM_DIALECTS_KAN_FORMULA_H

#include "dialects/Interfaces/ScalarBuilder.h"
#include <cmath>

namespace drawloom::kan {

/// A number computed by ops: a scalar, or a tensor of numbers.
struct Written {
  ScalarBuilder *b;
  mlir::Value value;
};

inline Written operator+(Written x, Written y) {
  return {x.b, x.b->add(x.value, y.value)};
}
inline Written operator-(Written x, Written y) {
  return {x.b, x.b->sub(x.value, y.value)};
}
/// Builds a plain product: NaN times 0 is NaN.
Written operator*(Written x, Written y);
inline Written operator/(Written x, Written y) {
  return {x.b, x.b->div(x.value, y.value)};
}
inline Written operator-(Written x) { return {x.b, x.b->neg(x.value)}; }

/// Returns the constant `value`, of the kind of `like`.
inline Written constant(double value, Written like) {
  return {like.b, like.b->constant(value, like.value)};
}
inline double constant(double value, double) { return value; }

inline Written operator+(Written x, double y) { return x + constant(y, x); }
inline Written operator-(Written x, double y) { return x - constant(y, x); }
inline Written operator-(double x, Written y) { return constant(x, y) - y; }
inline Written operator*(Written x, double y) { return x * constant(y, x); }
inline Written operator/(double x, Written y) { return constant(x, y) / y; }

/// Returns x y + z, rounded once.
inline Written multiplyAdd(Written x, Written y, Written z) {
  return {x.b, x.b->fma(x.value, y.value, z.value)};
}
inline double multiplyAdd(double x, double y, double z) { return x * y + z; }

inline Written exponential(Written x) { return {x.b, x.b->exp(x.value)}; }
inline double exponential(double x) { return std::exp(x); }
inline Written root(Written x) { return {x.b, x.b->sqrt(x.value)}; }
inline double root(double x) { return std::sqrt(x); }
inline Written tangent(Written x) { return {x.b, x.b->tanh(x.value)}; }
inline double tangent(double x) { return std::tanh(x); }
inline Written magnitude(Written x) { return {x.b, x.b->abs(x.value)}; }
inline double magnitude(double x) { return std::fabs(x); }
/// Returns the greatest integer that is not above x.
Written floorOf(Written x);
inline double floorOf(double x) { return std::floor(x); }

Written sine(Written x);
inline double sine(double x) { return std::sin(x); }
Written cosine(Written x);
inline double cosine(double x) { return std::cos(x); }

/// Returns `below` where x < y, else `from`; NaN is not below anything. The
/// value that is not chosen must be finite, since its gradient is multiplied by
/// 0.
inline Written chooseBelow(Written x, Written y, Written below, Written from) {
  mlir::Value isBelow = x.b->less(x.value, y.value);
  return {x.b, x.b->select(isBelow, below.value, from.value)};
}
inline double chooseBelow(double x, double y, double below, double from) {
  return x < y ? below : from;
}
/// Returns `same` where x equals y, else `other`.
Written chooseEqual(Written x, double y, Written same, Written other);
inline double chooseEqual(double x, double y, double same, double other) {
  return x == y ? same : other;
}

} // namespace drawloom::kan

#endif // DRAWLOOM_DIALECTS_KAN_FORMULA_H
