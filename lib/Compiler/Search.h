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

/// Finds how many bytes the tiles of each function should have, by what is
/// predicted of kernels that have them, and notes it on the function: more than
/// the ordinary budget as long as registers are enough, less where they are
/// not. Where something fails, that is for the compilation to say.
void chooseTiles(mlir::ModuleOp module, const CompileOptions &options);

/// Runs the phases; where there is a budget of memory, so that workspaces keep
/// to it, and where blocks turn out not to fit into a processor's memory, once
/// more with smaller ones.
llvm::LogicalResult compileToFit(mlir::ModuleOp module,
                                 const CompileOptions &options);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_SEARCH_H
