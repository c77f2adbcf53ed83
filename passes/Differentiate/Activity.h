//===- Activity.h - which values a derivative needs -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_DIFFERENTIATE_ACTIVITY_H
#define DRAWLOOM_PASSES_DIFFERENTIATE_ACTIVITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace drawloom {

/// Returns whether values of this type form a vector space: floats, and shaped
/// types of floats.
bool hasGradient(mlir::Type type);

/// Returns the operands of `op`, and the values from outside that its regions
/// use.
llvm::SmallVector<mlir::Value> operandsAndCaptures(mlir::Operation *op);

/// Determines which values of a block are relevant to a derivative. A value is
/// *varied* if it depends on an input, and *useful* if it is varied and an
/// output depends on it. An op with a varied operand and a useful result is
/// *active*. Dependence is followed through floats only, because derivatives of
/// integers are zero.
class Activity {
public:
  /// Visits the ops of `block`, but not their regions.
  Activity(mlir::Block &block, mlir::ValueRange inputs,
           mlir::ValueRange outputs);

  bool isVaried(mlir::Value value) const { return varied.contains(value); }
  bool isUseful(mlir::Value value) const { return useful.contains(value); }
  bool isActive(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Value> varied, useful;
};

} // namespace drawloom

#endif // DRAWLOOM_PASSES_DIFFERENTIATE_ACTIVITY_H
