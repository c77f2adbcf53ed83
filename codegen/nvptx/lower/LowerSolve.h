//===- LowerSolve.h - triangular systems ------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERSOLVE_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERSOLVE_H

#include "codegen/nvptx/lower/Views.h"

namespace drawloom::nvptx {

/// Solves a triangular system whose matrix is in shared memory; returns the
/// registers of the solution.
Registers solveTriangular(ThreadProgram &program, const Views &views,
                          tile::SolveOp op);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERSOLVE_H
