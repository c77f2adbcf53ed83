//===- Search.h - what is compiled more than once to choose -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_SEARCH_H
#define DRAWLOOM_LIB_COMPILER_SEARCH_H

#include "lib/Compiler/Compiler.h"

namespace drawloom {

/// Chooses the tile bytes of each function by predicting the resulting kernels,
/// and notes the choice on the function: more than the ordinary budget as long
/// as registers suffice, less if they do not. Failures are ignored here: the
/// compilation itself will report them.
void chooseTiles(mlir::ModuleOp module, const CompileOptions &options);

/// Runs the phases. If there is a memory budget, plans until workspaces stay
/// within it; if blocks turn out not to fit into a processor's memory,
/// recompiles with smaller ones.
llvm::LogicalResult compileToFit(mlir::ModuleOp module,
                                 const CompileOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_SEARCH_H
