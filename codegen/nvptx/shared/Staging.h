//===- Staging.h - tiles that pass through shared memory --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_SHARED_STAGING_H
#define DRAWLOOM_CODEGEN_NVPTX_SHARED_STAGING_H

#include "codegen/nvptx/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/Arena.h"

namespace drawloom::nvptx {

/// The argument or buffer that a view is of.
mlir::Value rootOf(mlir::Value memory);

/// Memory that a kernel only reads.
llvm::DenseSet<mlir::Value> inputsOf(mlir::func::FuncOp kernel);

/// What ldmatrix and asynchronous copies need; tiles of tensor maps will need
/// 1024.
inline constexpr int64_t sharedAlignment = 128;

/// A discardable attribute of loads: no element is less than zero, and no zero
/// has a sign.
inline constexpr llvm::StringLiteral nonnegativeAttr = "drawloom.nonnegative";

/// A discardable attribute of products: their rows are alike.
inline constexpr llvm::StringLiteral rowsAlikeAttr = "drawloom.rows_alike";

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

/// A buffer of this shape, its rows 16 bytes further apart than they are long
/// where they would start in the same banks: eight rows of a matrix that one
/// instruction reads then lie in different ones.
mlir::Value allocatePadded(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Bytes from the first to the last element of a buffer.
int64_t bytesOf(mlir::MemRefType type);

/// Copies of tiles in shared memory, for those who need one that there is.
using StagedCopies =
    llvm::DenseMap<mlir::Value, llvm::SmallVector<tile::AllocOp, 1>>;

/// Puts a dot's operands where its instructions read them: both into shared
/// memory, but for a left operand of mma.sync that is in its registers already.
void stageOperands(mlir::OpBuilder &builder, tile::DotOp dot, int64_t warps,
                   StagedCopies &staged);

/// Where more tiles are alive at products than registers hold, those that
/// elementwise arithmetic makes from others are made where they are read.
void recomputeTiles(mlir::func::FuncOp kernel, int64_t warps);

/// Arithmetic between products that ends in many sums over rows gets a layout
/// of its own: conversions lead into it, whose results have `columnsLayout`.
void detachSums(mlir::func::FuncOp kernel);

/// The layout of a tile whose rows are added up: few columns to a thread.
tile::Layout columnsLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// Whether a tile is made of few numbers wherever it is read.
bool isFree(mlir::Operation *op);
/// Makes such a tile again, with what it is read from if that never changes.
mlir::Value cloneFree(mlir::OpBuilder &builder, mlir::Value tile);

/// Sums of rows that a product multiplies as well become products with ones.
void sumByProducts(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// Whether every product of a kernel multiplies inputs, once: then nothing is
/// lost where these are read in parts.
bool readsInputsOnce(mlir::func::FuncOp kernel);

/// Products whose operands take more than `most` bytes go over their steps in a
/// loop. Whether there were any.
bool cutProducts(mlir::OpBuilder &builder, mlir::func::FuncOp kernel,
                 int64_t most);

/// Whether the right operand of a product can be staged with its columns in
/// another order, and that costs little: it is staged once, or by rows.
bool mayPermuteColumns(tile::DotOp dot);

/// A reshape that no renaming of digits says.
void reshapeThroughMemory(mlir::OpBuilder &builder, tile::ReshapeOp reshape);
/// One coordinate of a tile whose warps hold others, which all can read from
/// `buffer`: it is made and filled where it is null, for all slices of the
/// tile.
void sliceThroughMemory(mlir::OpBuilder &builder, tile::SliceOp slice,
                        mlir::Value &buffer);

/// Vectors that a loop reads alike in each iteration, each thread copies of
/// what others read, go through shared memory where they would take many
/// registers.
void stageVectors(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// What is staged in every iteration of a loop and always the same is staged
/// once, in front of it, up to `limit` bytes of a kernel.
void hoistStaging(mlir::func::FuncOp kernel, int64_t limit);

/// Sums that a loop carries are combined across threads behind it, not in each
/// iteration.
void hoistReductions(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// Tiles that wait while others need their registers wait in shared memory, of
/// which a block has `limit` bytes. Returns how many registers a thread lacks
/// nevertheless where most is alive.
int64_t keepShared(mlir::func::FuncOp kernel, int64_t limit, bool isRecurrence);

/// Whether each element is one thread's alone: what that stores, no other
/// thread reads in this layout.
bool isOwned(const tile::Layout &layout);

/// Conversions between threads become a store to shared memory and a load, and
/// reductions across warps get scratch memory.
void expandConversions(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);

/// Clocks of the banks of shared memory in which a warp moves all its elements
/// of a tile to or from a buffer with these strides, of `bytes` an element.
int64_t bankClocks(const tile::Layout &layout, llvm::ArrayRef<int64_t> strides,
                   llvm::ArrayRef<int64_t> shape, int64_t bytes);

/// Puts the rows of buffers so far apart that all who access them take the
/// fewest clocks, as far as `limit` bytes of shared memory allow.
void choosePaddings(mlir::func::FuncOp kernel, int64_t limit);

/// Tiles that only pass through registers on their way from inputs to shared
/// memory are copied there by themselves, in loops an iteration ahead.
/// Rings take no more than `limit` bytes of shared memory with all the rest.
void startCopiesEarly(mlir::OpBuilder &builder, mlir::func::FuncOp kernel,
                      int64_t limit);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_SHARED_STAGING_H
