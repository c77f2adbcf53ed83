//===- OpenKernels.h - kernels for extents that calls choose ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel receives the open extents that it needs as numbers, and computes
// everything else from them, such as the rows of a block or their reciprocal.
// The host only computes grids and memory, by the expressions of the plan.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OPENKERNELS_H
#define DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OPENKERNELS_H

#include "codegen/nvptx/launch/LaunchPlan.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::nvptx {

using runtime::cuda::ExtentExpression;

/// Gives a function its open extents as additional arguments, which replace
/// `tensor.dim`. Fails if a value in its signature has an open extent other
/// than its first, or one that no argument provides.
mlir::LogicalResult takeExtents(mlir::func::FuncOp function);

/// Returns the argument for the open extent of an OpenExtent::code, ignoring
/// the code's constant; null if there is none.
mlir::BlockArgument extentArgument(mlir::func::FuncOp function, int64_t code);

/// Builds the value of an OpenExtent::code at the insertion point of `builder`.
mlir::Value extentIn(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::func::FuncOp function, int64_t code);

/// Returns the numbers of a tensor's open extents, as in drawloom.extents; null
/// if some are not extents of the function's arguments.
mlir::DenseI64ArrayAttr extentsOf(mlir::func::FuncOp function,
                                  mlir::Value value);

/// Returns an integer as an expression of extents; nothing if it depends on
/// anything else.
std::optional<ExtentExpression> expressionOf(mlir::func::FuncOp function,
                                             mlir::Value value);

/// Builds a sum or product, simplified by dropping zeros and ones.
ExtentExpression combined(ExtentExpression::Kind kind, ExtentExpression x,
                          ExtentExpression y);

llvm::json::Value toJson(const ExtentExpression &expression);

/// Turns reductions over an open number of terms into loops over groups of
/// terms, in order: register counts must be static.
mlir::LogicalResult cutOpenSums(mlir::func::FuncOp kernel);
/// Turns computations of an open number of rows into loops over groups of rows.
mlir::LogicalResult cutOpenRows(mlir::func::FuncOp kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OPENKERNELS_H
