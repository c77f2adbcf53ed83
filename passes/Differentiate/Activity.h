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

/// Whether values of this type form a vector space: floats, and shaped types
/// of floats.
bool hasGradient(mlir::Type type);

/// The operands of `op` and the values from outside that its regions use.
llvm::SmallVector<mlir::Value> operandsAndCaptures(mlir::Operation *op);

/// Which values of a block a derivative has to do with. A value is *varied* if
/// it depends on an input, *useful* if it is varied and an output depends on
/// it. An op on whose operands and results both meet is *active*. Dependence is
/// followed through floats only, because derivatives of integers are zero.
class Activity {
public:
  /// Looks at the ops of `block` but not into their regions.
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
