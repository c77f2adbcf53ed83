//===- MathFunctions.h - elementary functions in f32 ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drawloom's own expansions where upstream's polynomials are missing or lose
// more than about 4 units in the last place (ulp). All work on f32 and vectors
// of f32, propagate NaN and are branch-free. Errors were measured against f64
// over the ranges given; test/unit/MathAccuracyTest.cpp checks them.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_MATHFUNCTIONS_H
#define DRAWLOOM_CODEGEN_MATHFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace drawloom {

/// Adds patterns for math.{cos, erf, expm1, log1p, sin, tanh} on f32, with a
/// higher benefit than the upstream patterns. On f32, uses Drawloom's own
/// polynomials, and upstream's where they are accurate to a few ulp. With
/// `all`, for targets without a C library, also adds upstream's asin (7 ulp)
/// and cbrt (12 ulp), and Drawloom's own math.{acosh, asinh, atan, atanh, cosh,
/// log10, powf, sinh, tan}. powf uses math.exp2 of numbers in [-1/2, 1/2].
void populateMathExpansions(mlir::RewritePatternSet &patterns, bool all);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_MATHFUNCTIONS_H
