//===- SharedMemory.h - buffers of shared memory ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_SHARED_SHAREDMEMORY_H
#define DRAWLOOM_CODEGEN_NVPTX_SHARED_SHAREDMEMORY_H

#include "codegen/nvptx/tile/Tile.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Memory/Arena.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {

/// The argument or buffer that a view is of.
mlir::Value rootOf(mlir::Value memory);

/// Memory that a kernel only reads.
llvm::DenseSet<mlir::Value> inputsOf(mlir::func::FuncOp kernel);

/// What ldmatrix and asynchronous copies need; tiles of tensor maps will need
/// 1024.
inline constexpr int64_t sharedAlignment = 128;

/// The buffers of a kernel and when each is in use.
struct SharedBuffers {
  llvm::SmallVector<tile::AllocOp> buffers;
  llvm::SmallVector<Lifetime> lifetimes;
};
SharedBuffers sharedBuffers(mlir::func::FuncOp kernel);

/// Puts a barrier wherever one thread may load what another has stored, or
/// store what another may still load. `isMemory`: whether a buffer is any.
void insertBarriers(mlir::func::FuncOp kernel,
                    llvm::function_ref<bool(mlir::Value)> isMemory);

/// Bytes of the arena that the buffers of a kernel need.
int64_t sharedBytesOf(mlir::func::FuncOp kernel);

/// A buffer of this shape, its rows 16 bytes further apart than they are long
/// where they would start in the same banks: eight rows of a matrix that one
/// instruction reads then lie in different ones.
mlir::Value allocatePadded(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Bytes from the first to the last element of a buffer.
int64_t bytesOf(mlir::MemRefType type);

/// Whether a tile is made of few numbers wherever it is read.
bool isFree(mlir::Operation *op);
/// Makes such a tile again, with what it is read from if that never changes.
mlir::Value cloneFree(mlir::OpBuilder &builder, mlir::Value tile);

/// Whether each element is one thread's alone: what that stores, no other
/// thread reads in this layout.
bool isOwned(const tile::Layout &layout);

/// Clocks of the banks of shared memory in which a warp moves all its elements
/// of a tile to or from a buffer with these strides, of `bytes` an element.
int64_t bankClocks(const tile::Layout &layout, llvm::ArrayRef<int64_t> strides,
                   llvm::ArrayRef<int64_t> shape, int64_t bytes);

/// Adds what makes `value` in the loop's body to `ops`, in order, if it is the
/// same in each iteration and made of memory that the kernel only reads.
bool collectInvariant(mlir::scf::ForOp loop, mlir::Value value,
                      const llvm::DenseSet<mlir::Value> &inputs,
                      llvm::SetVector<mlir::Operation *> &ops);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_SHARED_SHAREDMEMORY_H
