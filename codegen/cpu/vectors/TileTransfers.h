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

/// Turns reads and writes of a tile into reads and writes of its tensor, and
/// removes unit loops from vector contractions. CSE must not run before: it
/// would merge the zeroed tiles of several accumulators into one, of which each
/// accumulator would then need a copy.
llvm::LogicalResult foldSlices(mlir::func::FuncOp function);

/// Replaces vectors of rank 0 by scalars.
llvm::LogicalResult takeScalarsAsSuch(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_TILETRANSFERS_H
