//===- StepCost.h - how long steps take -------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_STEPCOST_H
#define DRAWLOOM_PASSES_MEMORY_STEPCOST_H

#include "mlir/IR/Operation.h"

namespace drawloom {

/// Returns the bytes of a tensor or memref of static shape.
int64_t bytesOf(mlir::Type type);

/// Returns the seconds that an op on the tensors of a function takes at the
/// given rates: the time of its arithmetic or that of the memory traffic of its
/// operands and results, whichever is longer. Transfers proceed concurrently.
double secondsOf(mlir::Operation &op, double operations, double memory);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_STEPCOST_H
