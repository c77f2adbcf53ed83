//===- Differences.cpp - derivatives by their definition ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Differences.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace drawloom::interpreter {

namespace {
/// A sum, and the sum of its terms' magnitudes, which its rounding goes by.
struct Sum {
  double value = 0.0, magnitude = 0.0;
};
} // namespace

static Sum weighedSum(ArrayRef<HostTensor> results,
                      ArrayRef<std::optional<HostTensor>> cotangents) {
  Sum sum;
  for (auto [result, cotangent] : llvm::zip_equal(results, cotangents)) {
    if (!cotangent)
      continue;
    for (auto [y, g] : llvm::zip_equal(result.f(), cotangent->f())) {
      sum.value += y * g;
      sum.magnitude += std::abs(y * g);
    }
  }
  return sum;
}

FailureOr<Slope> slopeOf(Evaluate evaluate, ArrayRef<HostTensor> arguments,
                         ArrayRef<std::optional<HostTensor>> cotangents,
                         int64_t argument, int64_t element) {
  double x = arguments[argument].f()[element];
  // A power of two: x + step is then x and step up to one rounding. With
  // errors of the fourth order in the step, below, this is where truncation and
  // rounding of smooth functions meet.
  double step =
      std::ldexp(1.0, std::max(std::ilogb(std::abs(x) + 1.0), 0) - 10);
  double quotients[2], magnitude = 0.0;
  for (double &quotient : quotients) {
    double low = 0.0, high = 0.0;
    for (bool up : {false, true}) {
      SmallVector<HostTensor> moved(arguments);
      moved[argument].mutableF()[element] = up ? x + step : x - step;
      FailureOr<SmallVector<HostTensor>> results = evaluate(moved);
      if (failed(results))
        return failure();
      Sum sum = weighedSum(*results, cotangents);
      (up ? high : low) = sum.value;
      magnitude = std::max(magnitude, sum.magnitude);
    }
    quotient = (high - low) / (2.0 * step);
    step /= 2.0;
  }
  double rounding =
      8.0 * std::numeric_limits<double>::epsilon() * (magnitude + 1.0) / step;
  // The quotients' errors are as the squares of the steps: their combination
  // has none of that order.
  return Slope{quotients[1] + (quotients[1] - quotients[0]) / 3.0,
               std::abs(quotients[1] - quotients[0]) + rounding};
}

} // namespace drawloom::interpreter
