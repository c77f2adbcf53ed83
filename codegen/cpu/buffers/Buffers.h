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

/// Of so many bytes.
mlir::MemRefType bytesType(mlir::Builder &builder, int64_t bytes);

/// The bytes of a buffer that `op` allocates, as the machine code addresses it.
mlir::FailureOr<int64_t> bytesOf(mlir::Operation *op);
/// The same where all open extents are 1.
mlir::FailureOr<int64_t> bytesOfRow(mlir::Operation *op);

/// As the host rounds what a term of memory is multiplied with.
mlir::OpFoldResult roundedUp(IndexMath &math, mlir::OpFoldResult count);

/// The ops below `root`, outside nested functions, that allocate buffers.
llvm::SmallVector<mlir::Operation *> allocationsIn(mlir::Operation *root);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_BUFFERS_BUFFERS_H
