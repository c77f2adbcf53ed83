//===- Passes.h - differentiation -------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_H
#define DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace drawloom {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Differentiate/Passes.h.inc"

/// Attaches `DifferentiableOpInterface` to the upstream ops that have a
/// derivative.
void registerDifferentiationRules(mlir::DialectRegistry &registry);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_H
