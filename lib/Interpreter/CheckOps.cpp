//===- CheckOps.cpp - comparisons that tests make -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Check/Check.h"
#include "lib/Interpreter/Machine.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace drawloom::interpreter {

static LogicalResult verifySameShape(Call &call) {
  if (call.args[0].shape() == call.args[1].shape())
    return success();
  return call.error() << "failed: the actual value has shape "
                      << indexText(call.args[0].shape())
                      << ", the expected one "
                      << indexText(call.args[1].shape());
}

/// " at index [1, 2]", or nothing for a scalar.
static std::string place(const HostTensor &value, int64_t element) {
  if (value.rank() == 0)
    return "";
  SmallVector<int64_t, 4> index;
  for (int64_t stride : stridesOf(value.shape())) {
    index.push_back(element / stride);
    element %= stride;
  }
  return " at index " + indexText(index);
}

/// All digits of a double.
static std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.17g", value);
  return buffer;
}

static LogicalResult runClose(Call &call) {
  if (failed(verifySameShape(call)))
    return failure();
  auto op = call.as<check::CloseOp>();
  Tolerance tolerance = op.getTolerance();
  std::optional<Difference> difference =
      findDifference(call.args[0], call.args[1], tolerance, op.getEqualNan());
  if (!difference)
    return success();
  return call.error() << "failed" << place(call.args[0], difference->element)
                      << ": actual " << text(difference->actual)
                      << ", expected " << text(difference->expected) << "; "
                      << difference->count << " of " << call.args[0].size()
                      << " elements differ by more than rtol "
                      << text(tolerance.relative) << ", atol "
                      << text(tolerance.absolute) << ", at most by "
                      << text(difference->largest);
}

static LogicalResult runEqualBits(Call &call) {
  if (failed(verifySameShape(call)))
    return failure();
  const HostTensor &actual = call.args[0], &expected = call.args[1];
  int64_t first = -1, count = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    bool same;
    if (actual.isFloat()) {
      double a = actual.f()[i], b = expected.f()[i];
      same = std::memcmp(&a, &b, sizeof(a)) == 0 ||
             (std::isnan(a) && std::isnan(b));
    } else {
      same = actual.i()[i] == expected.i()[i];
    }
    if (same)
      continue;
    first = first < 0 ? i : first;
    ++count;
  }
  if (count == 0)
    return success();
  InFlightDiagnostic error = call.error()
                             << "failed" << place(actual, first) << ": actual ";
  if (actual.isFloat())
    error << text(actual.f()[first]) << ", expected "
          << text(expected.f()[first]);
  else
    error << actual.i()[first] << ", expected " << expected.i()[first];
  return error << "; " << count << " of " << actual.size()
               << " elements differ";
}

void addCheckOps(Registry &registry) {
  registry["check.close"] = {runClose};
  registry["check.equal_bits"] = {runEqualBits};
}

} // namespace drawloom::interpreter
