//===- Tolerance.cpp - how far values may differ --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Check/Tolerance.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace drawloom {

std::optional<Tolerance> Tolerance::forType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF64())
    return Tolerance{1e-9, 1e-12};
  if (element.isF32())
    return Tolerance{1e-5, 1e-6};
  if (element.isF16())
    return Tolerance{5e-3, 1e-4};
  if (element.isBF16())
    return Tolerance{1.6e-2, 1e-3};
  return std::nullopt;
}

bool Tolerance::holds(double actual, double expected, bool equalNan) const {
  if (std::isnan(actual) || std::isnan(expected))
    return equalNan && std::isnan(actual) && std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected))
    return actual == expected;
  return std::fabs(actual - expected) <=
         absolute + relative * std::fabs(expected);
}

std::optional<Difference> findDifference(const HostTensor &actual,
                                         const HostTensor &expected,
                                         Tolerance tolerance, bool equalNan) {
  assert(actual.shape() == expected.shape() && "shapes must agree");
  std::optional<Difference> difference;
  for (int64_t i = 0; i < actual.size(); ++i) {
    double a = actual.f()[i], b = expected.f()[i];
    if (tolerance.holds(a, b, equalNan))
      continue;
    double error = std::fabs(a - b);
    if (!difference)
      difference = Difference{i, a, b, 0, error};
    ++difference->count;
    if (std::isnan(error) || error > difference->largest)
      difference->largest = error;
  }
  return difference;
}

} // namespace drawloom
