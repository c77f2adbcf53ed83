//===- LaunchPlan.h - what an entry launches, on which memory ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's side of launch plans: writes what the runtime reads and
// follows.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAUNCH_LAUNCHPLAN_H
#define DRAWLOOM_CODEGEN_NVPTX_LAUNCH_LAUNCHPLAN_H

#include "codegen/Program.h"
#include "codegen/nvptx/products/ProductAttributes.h"
#include "dialects/Drawloom/Attributes.h"
#include "drawloom/runtime/LaunchPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

using runtime::cuda::LaunchEntry;
using runtime::cuda::LaunchKernel;
using runtime::cuda::LaunchOperand;
using runtime::cuda::LaunchPlan;
using runtime::cuda::LaunchStep;
using runtime::cuda::LaunchTransfer;

/// Serializes a plan for runtime::cuda::parsePlan.
llvm::json::Value toJson(const LaunchPlan &plan);

/// Returns the plan of a module of kernels in the phases `vectors` to `llvm`.
llvm::Expected<LaunchPlan> planOf(mlir::ModuleOp module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAUNCH_LAUNCHPLAN_H
