//===- Inits.h - what an op reads of its results -------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_INITS_H
#define DRAWLOOM_PASSES_BLOCK_INITS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace drawloom {

/// Returns whether a value is an argument of the function itself. Such an
/// argument must not be written: an op that updates it in place works on a
/// copy.
bool isFunctionArgument(mlir::Value value);

/// Turns the inits that an elementwise op reads, and that `which` selects, into
/// inputs; an empty tensor takes their place. Does nothing to other ops.
void readInitsAsInputs(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                       llvm::function_ref<bool(mlir::Value)> which);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_INITS_H
