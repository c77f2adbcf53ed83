//===- HoistTiles.h - tiles that loops carry --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_HOISTTILES_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_HOISTTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace drawloom::cpu {

/// Hoisting on tensors keeps accumulators in registers: a tile that a loop
/// reads and writes becomes a vector that the loop carries. Not out of
/// scf.forall: what leaves it would have to be handed to each block through
/// memory.
void hoistTiles(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_HOISTTILES_H
