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

/// Expands what would otherwise become calls of a library, or arithmetic whose
/// accuracy nobody chose: of f32, exponentials and quotients by the hardware's
/// ex2 and rcp, the other functions by the same polynomials as on the CPU;
/// bf16 and f16 are computed in f32.
llvm::LogicalResult lowerMath(mlir::Operation *module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_MATHFUNCTIONS_H
