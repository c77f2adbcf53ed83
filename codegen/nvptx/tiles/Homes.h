//===- Homes.h - where values of a block program are ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_TILES_HOMES_H
#define DRAWLOOM_CODEGEN_NVPTX_TILES_HOMES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace drawloom::nvptx {

/// Where a tensor of a block program is in its kernel.
struct Home {
  enum Kind {
    Undefined, ///< Nowhere: its elements are undefined so far.
    Memory,    ///< `value` is a memref.
    Tile       ///< `value` is a tensor in registers.
  };
  Kind kind = Undefined;
  mlir::Value value;
  /// Whether the memory is the kernel's own, so that ops may change it in
  /// place.
  bool writable = false;
};

/// Where the values of a block program are in its kernel. Brings tensors to
/// registers or memory, where ops need them.
class Homes {
public:
  /// Whatever a tensor needs is built where `builder` stands.
  explicit Homes(mlir::OpBuilder &builder) : builder(builder) {}

  Home &operator[](mlir::Value tensor) { return homes[tensor]; }
  void setTile(mlir::Value tensor, mlir::Value tile) {
    homes[tensor] = {Home::Tile, tile, false};
  }
  void setMemory(mlir::Value tensor, mlir::Value memory, bool writable) {
    homes[tensor] = {Home::Memory, memory, writable};
  }
  using Saved = llvm::DenseMap<mlir::Value, Home>;
  Saved save() const { return homes; }
  void restore(Saved saved) { homes = std::move(saved); }

  /// Returns the tensor in registers.
  mlir::FailureOr<mlir::Value> asTile(mlir::Value tensor);
  /// Returns the tensor in memory that is not changed while it is read.
  mlir::FailureOr<mlir::Value> asMemory(mlir::Value tensor);
  mlir::Value allocate(mlir::Location loc, mlir::RankedTensorType type);
  /// Returns memory with the elements of a tensor that is then changed part by
  /// part.
  mlir::FailureOr<mlir::Value> ownMemory(mlir::Value tensor);
  /// Returns whether `op` may change the tensor in place: nothing reads the old
  /// contents of that memory afterwards, through this value or a reshaped one.
  bool mayChange(mlir::Value tensor, mlir::Operation *op);
  /// Returns the memory in which `op` may change the tensor: its own, or a
  /// copy.
  mlir::FailureOr<mlir::Value> memoryToChange(mlir::Value tensor,
                                              mlir::Operation *op);
  mlir::Value splat(mlir::Location loc, mlir::Value scalar,
                    llvm::ArrayRef<int64_t> shape);
  mlir::Value loadTile(mlir::Location loc, mlir::Value memory,
                       mlir::RankedTensorType type);
  mlir::Value subview(mlir::Location loc, mlir::Value memory,
                      mlir::RankedTensorType part,
                      llvm::ArrayRef<mlir::OpFoldResult> offsets,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes,
                      llvm::ArrayRef<mlir::OpFoldResult> strides);
  /// Returns the kernel's numbers for those of the program.
  llvm::SmallVector<mlir::OpFoldResult>
  mapped(llvm::ArrayRef<mlir::OpFoldResult> values);

  /// Maps all values that are not tensors.
  mlir::IRMapping scalars;

private:
  mlir::OpBuilder &builder;
  Saved homes;
  /// Copies of tiles in shared memory.
  llvm::DenseMap<mlir::Value, mlir::Value> spilled;
};

/// Returns whether the tensor is changed or read part by part, which is
/// impossible in registers.
bool needsMemory(mlir::Value tensor);
bool isReadAfter(mlir::Value tensor, mlir::Operation *op);
/// Returns whether a tensor that is filled, and then changed part by part, is
/// so large that this happens in the memory of the result rather than in shared
/// memory.
bool isFilledInPlace(mlir::linalg::FillOp op);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_TILES_HOMES_H
