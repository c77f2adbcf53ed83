//===- Operations.h - arithmetic of a program -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_OPERATIONS_H
#define DRAWLOOM_PASSES_MEMORY_OPERATIONS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace drawloom {

/// Returns the floating-point operations of one execution of an op and its
/// nested ops: linalg, arith, math and vector ops; an addition, a
/// multiplication, a division, and a call of a function such as exp count as
/// one each. Returns nothing if an extent or a trip count is unknown.
std::optional<double> countOperations(mlir::Operation &op);
/// Returns the floating-point operations of the ops in an op's regions, each
/// counted once.
std::optional<double> countRegions(mlir::Operation &op);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_OPERATIONS_H
