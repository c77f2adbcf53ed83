//===- Shapes.h - tensors under other shapes ------------------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_SHAPES_H
#define DRAWLOOM_DIALECTS_LINREC_SHAPES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace drawloom::linrec {

/// Returns a tensor of zeros.
mlir::Value zeros(mlir::OpBuilder &b, mlir::Location loc,
                  llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);

/// Reshapes `x`, of static shape, to another shape with as many elements.
mlir::Value reshaped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     llvm::ArrayRef<int64_t> shape);

/// Reshapes [B, T, H(, size)] with H = shared * group to [B, T, shared, group(,
/// size)].
mlir::Value headsApart(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       int64_t shared);

/// Transposes `x`: dimension i of the result is dimension permutation[i] of
/// `x`.
mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       llvm::ArrayRef<int64_t> permutation);

/// Sums `x` over its dimension `over`, in the element type of `x`.
mlir::Value sumOver(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                    int64_t over);

/// Repeats `x` along a new dimension at `at`.
mlir::Value repeated(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     int64_t at, int64_t times);

/// If calls choose dimension `dim` of `like` (sequences or tokens), they choose
/// that dimension of `x` as well: asserts that the operand `x` of `op` has the
/// same extent. Emits an error if only one of the two is open.
mlir::LogicalResult
assertExtent(mlir::OpBuilder &b, mlir::Operation *op, mlir::Value x,
             int64_t dim, mlir::RankedTensorType like,
             llvm::function_ref<mlir::OpFoldResult()> extent);

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_SHAPES_H
