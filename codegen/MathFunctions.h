//===- MathFunctions.h - elementary functions in f32 ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expansions of our own where upstream's polynomials lose more than about 4
// units in the last place (ulp) or are missing. All work on f32 and on vectors
// of it, pass NaN on and have no branches. Errors were measured against f64
// over the ranges given; test/unit/MathAccuracyTest.cpp holds them.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_MATHFUNCTIONS_H
#define DRAWLOOM_CODEGEN_MATHFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace drawloom {

/// math.{cos, erf, expm1, log1p, sin, tanh} on f32, with a benefit above that
/// of the upstream patterns.
/// Of f32: our own polynomials, and upstream's where they are good to a few
/// ulp; with `all`, for targets without a C library, also upstream's of asin (7
/// ulp) and cbrt (12) and our own math.{acosh, asinh, atan, atanh, cosh, log10,
/// powf, sinh, tan}. powf takes math.exp2 of numbers in [-1/2, 1/2].
void populateMathExpansions(mlir::RewritePatternSet &patterns, bool all);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_MATHFUNCTIONS_H
