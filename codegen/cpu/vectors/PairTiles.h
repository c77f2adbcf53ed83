//===- PairTiles.h - products of bf16 on AMX's registers --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_PAIRTILES_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_PAIRTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::cpu {

/// Turns contractions over pairs into operations of AMX. Sums that a loop
/// carries stay in its registers through the loop; before and behind it they
/// pass through memory, as there is no other way between them and vectors.
void usePairTiles(mlir::func::FuncOp function);

/// Lowers them to LLVM's intrinsics, while loops still are loops: branches
/// could not hand on tiles.
llvm::LogicalResult lowerPairTiles(mlir::func::FuncOp function);

/// Replaces the operations of AMX by vector arithmetic, as its manual defines
/// them (but for denormal numbers, which AMX takes for zero).
llvm::LogicalResult replacePairTiles(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_PAIRTILES_H
