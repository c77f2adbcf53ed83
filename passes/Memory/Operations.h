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

/// Floating-point operations of one execution of an op and what is in it: of
/// linalg, arith, math and vector ops; an add, a multiplication, a division, a
/// call of a function such as exp are one each. Nothing where an extent or a
/// trip count is not known.
std::optional<double> countOperations(mlir::Operation &op);
/// The same of the ops in its regions, each once.
std::optional<double> countRegions(mlir::Operation &op);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_OPERATIONS_H
