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

/// Turns contractions over pairs into AMX operations. Loop-carried accumulators
/// stay in AMX's registers throughout the loop; before and after the loop they
/// go through memory, the only way between them and vectors.
void usePairTiles(mlir::func::FuncOp function);

/// Lowers AMX operations to LLVM's intrinsics while loops are still structured:
/// tiles cannot be passed through branches.
llvm::LogicalResult lowerPairTiles(mlir::func::FuncOp function);

/// Replaces AMX operations by vector arithmetic, as AMX's manual defines them
/// (except for denormal numbers, which AMX treats as zero).
llvm::LogicalResult replacePairTiles(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_PAIRTILES_H
