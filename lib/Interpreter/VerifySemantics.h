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

/// "Same meaning before and after": what functions compute must not depend on
/// the passes run on them.
struct SemanticsOptions {
  /// Of the random arguments.
  uint64_t seed = 0;
  /// The function to compare; empty: every public one.
  std::string entry;
  /// Both sides are computed in float64, so that only constants that a pass
  /// rounds to a narrower type, and expansions of functions, differ.
  Tolerance tolerance = {1e-6, 1e-9};
  /// Runs what a kernel has become in the module after the passes, where that
  /// is a function that cannot be interpreted: memory among the arguments then
  /// holds what the kernel left there. It computes in the types that the memory
  /// has, so that the tolerance is at least theirs. Where this is null such
  /// functions count as gone.
  std::function<llvm::LogicalResult(mlir::func::FuncOp kernel,
                                    mlir::ModuleOp after,
                                    llvm::MutableArrayRef<HostTensor>)>
      runLowered;
};

/// Adds the passes that `addPipeline` adds, between one that remembers the
/// module and one that compares: it interprets the functions of both on the
/// same random arguments, and fails with an error at the first difference, at a
/// function whose type has changed or that is gone, and where either side
/// cannot be interpreted.
llvm::LogicalResult addWithSemanticsVerified(
    mlir::PassManager &manager, const SemanticsOptions &options,
    llvm::function_ref<llvm::LogicalResult(mlir::PassManager &)> addPipeline);

/// The comparison itself.
llvm::LogicalResult compareSemantics(mlir::ModuleOp before,
                                     mlir::ModuleOp after,
                                     const SemanticsOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_LIB_INTERPRETER_VERIFYSEMANTICS_H
