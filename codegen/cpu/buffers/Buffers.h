//===- Buffers.h - bytes of buffers -----------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_BUFFERS_BUFFERS_H
#define DRAWLOOM_CODEGEN_CPU_BUFFERS_BUFFERS_H

#include "drawloom/IndexMath.h"
#include "mlir/IR/BuiltinTypes.h"

namespace drawloom::cpu {

/// Returns the type of a buffer of this many bytes.
mlir::MemRefType bytesType(mlir::Builder &builder, int64_t bytes);

/// Returns the bytes of a buffer that `op` allocates, as machine code addresses
/// it.
mlir::FailureOr<int64_t> bytesOf(mlir::Operation *op);
/// Like bytesOf, as if all open extents were 1.
mlir::FailureOr<int64_t> bytesOfRow(mlir::Operation *op);

/// Rounds the factor of a memory term in the same way as the host does.
mlir::OpFoldResult roundedUp(IndexMath &math, mlir::OpFoldResult count);

/// Returns the ops below `root`, outside nested functions, that allocate
/// buffers.
llvm::SmallVector<mlir::Operation *> allocationsIn(mlir::Operation *root);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_BUFFERS_BUFFERS_H
