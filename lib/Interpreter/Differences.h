//===- Differences.h - derivatives by their definition ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_DIFFERENCES_H
#define DRAWLOOM_LIB_INTERPRETER_DIFFERENCES_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/Support/LLVM.h"
#include <optional>

namespace drawloom::interpreter {

/// A derivative by central differences.
struct Slope {
  double value = 0.0;
  /// Estimated error: the change of the difference quotient when the step was
  /// halved, plus the effect of rounding of the function's values.
  double uncertainty = 0.0;
};

/// A function of several tensors, to be differentiated.
using Evaluate =
    llvm::function_ref<mlir::FailureOr<llvm::SmallVector<HostTensor>>(
        llvm::ArrayRef<HostTensor> arguments)>;

/// Returns the derivative of the sum over all results of <cotangent, result>
/// with respect to one element of argument `argument`. A result without a
/// cotangent does not count.
mlir::FailureOr<Slope>
slopeOf(Evaluate evaluate, llvm::ArrayRef<HostTensor> arguments,
        llvm::ArrayRef<std::optional<HostTensor>> cotangents, int64_t argument,
        int64_t element);

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_DIFFERENCES_H
