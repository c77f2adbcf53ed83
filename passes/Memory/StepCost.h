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

/// Bytes of a tensor, or of memory, of static shape.
int64_t bytesOf(mlir::Type type);

/// Seconds that an op between the tensors of a function takes: its arithmetic,
/// or the memory of its operands and results, at so many operations and bytes a
/// second. Transfers go on beside.
double secondsOf(mlir::Operation &op, double operations, double memory);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_STEPCOST_H
