//===- VerifySemantics.h - same meaning before and after --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_VERIFYSEMANTICS_H
#define DRAWLOOM_LIB_INTERPRETER_VERIFYSEMANTICS_H

#include "dialects/Check/Tolerance.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace drawloom {

/// Options for verifying that passes preserve semantics: functions must compute
/// the same before and after them.
struct SemanticsOptions {
  /// Seed of the random arguments.
  uint64_t seed = 0;
  /// The function to compare; if empty, every public one.
  std::string entry;
  /// Both sides are computed in float64, so the only sources of differences are
  /// constants that a pass rounds to a narrower type, and expansions of
  /// functions.
  Tolerance tolerance = {1e-6, 1e-9};
  /// Runs the kernel that a function has become after the passes, for functions
  /// that the interpreter cannot execute: memory among the arguments then holds
  /// the kernel's output. Kernels compute in the memory's types, so the
  /// tolerance is at least that of these types. If this is null, such functions
  /// count as missing.
  std::function<llvm::LogicalResult(mlir::func::FuncOp kernel,
                                    mlir::ModuleOp after,
                                    llvm::MutableArrayRef<HostTensor>)>
      runLowered;
};

/// Adds the passes that `addPipeline` adds, between a pass that remembers the
/// module and one that compares: it interprets the functions of both modules on
/// the same random arguments. It fails with an error at the first difference,
/// at a function that is missing or whose type has changed, and if either side
/// cannot be interpreted.
llvm::LogicalResult addWithSemanticsVerified(
    mlir::PassManager &manager, const SemanticsOptions &options,
    llvm::function_ref<llvm::LogicalResult(mlir::PassManager &)> addPipeline);

/// Compares the semantics of two modules.
llvm::LogicalResult compareSemantics(mlir::ModuleOp before,
                                     mlir::ModuleOp after,
                                     const SemanticsOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_LIB_INTERPRETER_VERIFYSEMANTICS_H
