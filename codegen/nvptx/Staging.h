//===- Staging.h - tiles that pass through shared memory --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_STAGING_H
#define DRAWLOOM_CODEGEN_NVPTX_STAGING_H

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::nvptx {

/// The argument or buffer that a view is of.
mlir::Value rootOf(mlir::Value memory);

/// Memory that a kernel only reads.
llvm::DenseSet<mlir::Value> inputsOf(mlir::func::FuncOp kernel);

/// Bytes from the first to the last element of a buffer.
int64_t bytesOf(mlir::MemRefType type);

/// Puts a dot's operands where its instructions read them: both into shared
/// memory, but for a left operand of mma.sync that is in its registers already.
void stageOperands(mlir::OpBuilder &builder, tile::DotOp dot, int64_t warps);

/// Whether the right operand of a product can be staged with its columns in
/// another order, and that costs little: it is staged once, or by rows.
bool mayPermuteColumns(tile::DotOp dot);

/// A reshape that no renaming of digits says.
void reshapeThroughMemory(mlir::OpBuilder &builder, tile::ReshapeOp reshape);

/// Vectors that a loop reads alike in each iteration, each thread copies of
/// what others read, go through shared memory where they would take many
/// registers.
void stageVectors(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// What is staged in every iteration of a loop and always the same is staged
/// once, in front of it.
void hoistStaging(mlir::func::FuncOp kernel);

/// Sums that a loop carries are combined across threads behind it, not in each
/// iteration.
void hoistReductions(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// Conversions between threads become a store to shared memory and a load, and
/// reductions across warps get scratch memory.
void expandConversions(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// Tiles that only pass through registers on their way from inputs to shared
/// memory are copied there by themselves, in loops an iteration ahead.
void startCopiesEarly(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_STAGING_H
