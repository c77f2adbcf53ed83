//===- SharedMemory.h - buffers of shared memory ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_SHARED_SHAREDMEMORY_H
#define DRAWLOOM_CODEGEN_NVPTX_SHARED_SHAREDMEMORY_H

#include "codegen/nvptx/dialect/Tile.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Memory/Arena.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {

/// Returns the argument or buffer that a view refers to.
mlir::Value rootOf(mlir::Value memory);

/// Returns the memory that a kernel only reads.
llvm::DenseSet<mlir::Value> inputsOf(mlir::func::FuncOp kernel);

/// Alignment that ldmatrix and asynchronous copies need; tiles of tensor maps
/// will need 1024.
inline constexpr int64_t sharedAlignment = 128;

/// The buffers of a kernel and the time in which each is in use.
struct SharedBuffers {
  llvm::SmallVector<tile::AllocOp> buffers;
  llvm::SmallVector<Lifetime> lifetimes;
};
SharedBuffers sharedBuffers(mlir::func::FuncOp kernel);

/// Inserts a barrier wherever one thread may load what another has stored, or
/// store what another may still load. `isMemory` selects the buffers to
/// consider.
void insertBarriers(mlir::func::FuncOp kernel,
                    llvm::function_ref<bool(mlir::Value)> isMemory);

/// Returns the bytes of the arena that a kernel's buffers need.
int64_t sharedBytesOf(mlir::func::FuncOp kernel);

/// Allocates a buffer of this shape. If its rows would all start in the same
/// banks, they are padded by 16 bytes: the eight rows of a matrix that one
/// instruction reads are then in different banks.
mlir::Value allocatePadded(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Returns the bytes from the first to the last element of a buffer.
int64_t bytesOf(mlir::MemRefType type);

/// Returns whether a tile can be rematerialized from a few numbers wherever it
/// is read.
bool isFree(mlir::Operation *op);
/// Rematerializes such a tile, together with its sources if those never change.
mlir::Value cloneFree(mlir::OpBuilder &builder, mlir::Value tile);

/// Returns whether each element is held by one thread only, so that data stored
/// by one thread is not read by others in this layout.
bool isOwned(const tile::Layout &layout);

/// Returns the clocks that the banks of shared memory take for a warp to move
/// all its elements of a tile to or from a buffer with these strides and
/// `bytes` per element.
int64_t bankClocks(const tile::Layout &layout, llvm::ArrayRef<int64_t> strides,
                   llvm::ArrayRef<int64_t> shape, int64_t bytes);

/// Adds the ops in the loop's body that compute `value` to `ops`, in order, if
/// the value is loop-invariant and computed from memory that the kernel only
/// reads.
bool collectInvariant(mlir::scf::ForOp loop, mlir::Value value,
                      const llvm::DenseSet<mlir::Value> &inputs,
                      llvm::SetVector<mlir::Operation *> &ops);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_SHARED_SHAREDMEMORY_H
