//===- SliceBuilder.h - loops over slices of tensors ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_BLOCK_SLICEBUILDER_H
#define DRAWLOOM_DIALECTS_BLOCK_SLICEBUILDER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace drawloom::block {

/// Builds loops over slices of tensors that are one element thick.
struct SliceBuilder {
  using Values = llvm::SmallVector<mlir::Value>;

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t value);
  mlir::Value extent(mlir::Value tensor, int64_t dimension);

  /// Builds: for i = lower .. upper-1: carried = body(i, carried).
  Values loop(mlir::Value lower, mlir::Value upper, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// Builds: for i = 0 .. count-1: carried = body(i, carried).
  Values loop(mlir::Value count, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);

  struct Slice {
    llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
    mlir::RankedTensorType type; // without the dimension that was cut
  };
  Slice slice(mlir::Value tensor, int64_t dimension, mlir::Value at);
  mlir::Value read(mlir::Value tensor, int64_t dimension, mlir::Value at);
  mlir::Value write(mlir::Value part, mlir::Value tensor, int64_t dimension,
                    mlir::Value at);

  /// Returns entry `i` of a tensor of row numbers, as an index.
  mlir::Value rowNumber(mlir::Value indices, mlir::Value i);
  mlir::Value isRow(mlir::Value number);
  mlir::Value zero(mlir::Type element);
  mlir::Value filled(mlir::Value scalar, mlir::Value tensor);
  /// Returns a new tile of `element`s with the extents of `like`.
  mlir::Value emptyLike(mlir::Value like, mlir::Type element);

  /// Builds one elementwise linalg.generic over tensors of one shape; an input
  /// may also be a scalar. `body` gets the elements of inputs and outputs.
  Values elementwise(mlir::ValueRange inputs, mlir::ValueRange outputs,
                     llvm::function_ref<Values(mlir::ValueRange)> body);
};

/// Builds a block program with one block for each index of a grid. A grid with
/// a single index stays a block program: if it were inlined, it would be fused
/// with surrounding ops, and round differently from a grid whose size calls
/// choose.
mlir::scf::ForallOp blocksOf(mlir::OpBuilder &b, mlir::Location loc,
                             llvm::ArrayRef<mlir::OpFoldResult> grid,
                             mlir::ValueRange outs);

} // namespace drawloom::block

#endif // DRAWLOOM_DIALECTS_BLOCK_SLICEBUILDER_H
