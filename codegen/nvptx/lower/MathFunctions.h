//===- MathFunctions.h - elementary functions on a GPU ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_MATHFUNCTIONS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_MATHFUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace drawloom::nvptx {

/// Expands math functions that would otherwise become library calls, or whose
/// accuracy would be unspecified: on f32, exponentials and quotients use the
/// hardware's ex2 and rcp, and other functions the same polynomials as on the
/// CPU; bf16 and f16 are computed in f32.
llvm::LogicalResult lowerMath(mlir::Operation *module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_MATHFUNCTIONS_H
