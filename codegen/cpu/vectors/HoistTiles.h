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

/// Keeps accumulators in registers by hoisting on tensors: a tile that a loop
/// reads and writes becomes a vector that the loop carries. Tiles are not
/// hoisted out of scf.forall, since each block would have to receive them
/// through memory.
void hoistTiles(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_HOISTTILES_H
