//===- PlannedFunction.h - a function and its plan --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_PLANNEDFUNCTION_H
#define DRAWLOOM_PASSES_MEMORY_PLANNEDFUNCTION_H

#include "passes/Memory/Buffers.h"
#include "passes/Memory/Plan.h"

namespace drawloom {

struct PlannedFunction {
  mlir::func::FuncOp function;
  const FunctionBuffers &buffers;
  MemoryModel model;
  int64_t budget;
  MemoryPlan plan;
};

/// Inserts transfers and recomputations into the function.
void applyPlan(const PlannedFunction &planned);

/// explainPlan() returns the plan as a table; describePlan() returns it as one
/// line of JSON, including the model it is for.
std::string explainPlan(const PlannedFunction &planned);
std::string describePlan(const PlannedFunction &planned);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_PLANNEDFUNCTION_H
