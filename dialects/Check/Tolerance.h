//===- Tolerance.h - how far values may differ ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_CHECK_TOLERANCE_H
#define DRAWLOOM_DIALECTS_CHECK_TOLERANCE_H

#include "dialects/Interfaces/HostTensor.h"
#include <optional>

namespace drawloom {

/// |actual - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative = 0.0;
  double absolute = 0.0;

  /// Returns the default tolerance for an element type (or a tensor of it);
  /// nothing for types other than f64, f32, f16 and bf16.
  static std::optional<Tolerance> forType(mlir::Type type);
  bool holds(double actual, double expected, bool equalNan) const;
};

struct Difference {
  /// The first element, in row-major order, that is out of tolerance.
  int64_t element;
  double actual, expected;
  /// Number of elements out of tolerance.
  int64_t count;
  /// The largest absolute difference; NaN if any is NaN.
  double largest;
};

/// Compares two float tensors of one shape.
std::optional<Difference> findDifference(const HostTensor &actual,
                                         const HostTensor &expected,
                                         Tolerance tolerance, bool equalNan);

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_CHECK_TOLERANCE_H
