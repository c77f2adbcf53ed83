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

/// Lowers what transposes matrices in registers, transfers to and from memory
/// among it, to operations on whole rows: upstream would take a matrix apart
/// into its elements, or shuffle all of it as one vector.
llvm::LogicalResult transposeByRows(mlir::ModuleOp module);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_TRANSPOSES_H
