//===- OpenKernels.h - kernels for extents that calls choose ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is given the open extents that it asks for as numbers, and works out
// from them what else it needs: how many rows a block has, one over how many
// there are. The host computes grids and memory alone, by the expressions of
// the plan.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OPENKERNELS_H
#define DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OPENKERNELS_H

#include "codegen/nvptx/launch/LaunchPlan.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::nvptx {

using runtime::cuda::ExtentExpression;

/// Gives a function its open extents as further arguments, which take the place
/// of `tensor.dim`. Fails where a value in its signature has an open extent
/// that is not the first one, or that no argument tells.
mlir::LogicalResult takeExtents(mlir::func::FuncOp function);

/// The argument that is the open extent of an OpenExtent::code, without what
/// the code has more; null where there is none.
mlir::BlockArgument extentArgument(mlir::func::FuncOp function, int64_t code);

/// What that code is, in front of `builder`.
mlir::Value extentIn(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::func::FuncOp function, int64_t code);

/// The numbers of a tensor's open extents, as drawloom.extents has them; null
/// where some are no extents of the function's arguments.
mlir::DenseI64ArrayAttr extentsOf(mlir::func::FuncOp function,
                                  mlir::Value value);

/// What a number is made of extents; nothing where it is made of more.
std::optional<ExtentExpression> expressionOf(mlir::func::FuncOp function,
                                             mlir::Value value);

/// Sum or product, without zeros and ones that change nothing.
ExtentExpression combined(ExtentExpression::Kind kind, ExtentExpression x,
                          ExtentExpression y);

llvm::json::Value toJson(const ExtentExpression &expression);

/// Adds up as many terms as there are in loops, a group at a time, in their
/// order: registers are known by number.
mlir::LogicalResult cutOpenSums(mlir::func::FuncOp kernel);
/// Computes as many rows as there are in loops, a group at a time.
mlir::LogicalResult cutOpenRows(mlir::func::FuncOp kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OPENKERNELS_H
