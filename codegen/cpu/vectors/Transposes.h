//===- Transposes.h - transpositions in registers ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_TRANSPOSES_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_TRANSPOSES_H

#include "mlir/IR/BuiltinOps.h"

namespace drawloom::cpu {

/// Lowers transpositions of matrices in registers, including transfers to and
/// from memory, to operations on whole rows: upstream would split a matrix into
/// its elements, or shuffle it as one vector.
llvm::LogicalResult transposeByRows(mlir::ModuleOp module);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_TRANSPOSES_H
