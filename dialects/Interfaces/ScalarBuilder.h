//===- ScalarBuilder.h - arithmetic on floats of any shape ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_SCALARBUILDER_H
#define DRAWLOOM_DIALECTS_INTERFACES_SCALARBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace drawloom {

/// Builds formulas as they would be written in a paper: `b.mul(x, b.tanh(x))`.
/// Every method takes float scalars, vectors or tensors of one type, so that a
/// formula serves both the body of a `linalg.generic` and a whole tensor.
/// Constants take the type of a sample value.
///
/// C++ does not specify the order in which a call's arguments are evaluated: if
/// two of them create ops, store the first in a variable, or the order of the
/// IR depends on the compiler that built Drawloom.
class ScalarBuilder {
public:
  /// With `approximate`, exponentials and quotients of f32 may be off by a few
  /// units in the last place, on targets that compute these faster.
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                bool approximate = false)
      : builder(builder), loc(loc), approximate(approximate) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool approximate;

  mlir::Value constant(double value, mlir::Value like);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  /// If one factor is a step function (1 or 0), selects between the other
  /// factor and 0 instead of multiplying: where a derivative is 0, so is the
  /// gradient, whatever the cotangent is.
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  mlir::Value abs(mlir::Value a);
  mlir::Value exp(mlir::Value a);
  /// Builds e^(a - b) for a and b of magnitude up to about 100; if approximate,
  /// the result may be off by the rounding of either times log2 e.
  mlir::Value expOfDifference(mlir::Value a, mlir::Value b);
  mlir::Value expm1(mlir::Value a);
  mlir::Value log1p(mlir::Value a);
  mlir::Value tanh(mlir::Value a);
  mlir::Value erf(mlir::Value a);
  mlir::Value log(mlir::Value a);
  mlir::Value sqrt(mlir::Value a);
  /// Rounds to the nearest integer, ties to even.
  mlir::Value roundEven(mlir::Value a);
  /// Builds a * b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  /// maximum() and minimum() propagate NaN.
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, double b) { return add(a, constant(b, a)); }
  mlir::Value sub(double a, mlir::Value b) { return sub(constant(a, b), b); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, constant(b, a)); }
  mlir::Value div(double a, mlir::Value b) { return div(constant(a, b), b); }
  /// Builds a > b, with unordered counting as true, so that a NaN in `a` takes
  /// the branch that propagates it.
  mlir::Value greaterOrNan(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Returns `a` in the type to compute in: f16 and bf16 are widened to f32.
  mlir::Value widen(mlir::Value a);
  /// Rounds or extends `a` to the element type of `like`.
  mlir::Value convert(mlir::Value a, mlir::Value like);
  mlir::Value convert(mlir::Value a, mlir::Type elementType);
  /// Builds g where x >= 0 (and at both zeros), and -g where x < 0: the product
  /// of g and the derivative of |x|, with sign(0) = +1.
  mlir::Value mulSign(mlir::Value g, mlir::Value x);
};

/// Returns the float type for computing with values of `elementType`: f32 for
/// f16 and bf16, else the type itself.
mlir::FloatType computeType(mlir::Type elementType);

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_INTERFACES_SCALARBUILDER_H
