//===- TileTransfers.h - reads and writes of tiles --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_TILETRANSFERS_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_TILETRANSFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::cpu {

/// Reads and writes of a tile become reads and writes of its tensor, and
/// products of vectors lose loops of one step. No CSE before: it would merge
/// the zeroed tiles of several sums into one, of which each sum then needs a
/// copy.
llvm::LogicalResult foldSlices(mlir::func::FuncOp function);

/// Vectors without dimensions become scalars.
llvm::LogicalResult takeScalarsAsSuch(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_TILETRANSFERS_H
