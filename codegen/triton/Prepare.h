//===- Prepare.h - every piece of work becomes blocks --------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_PREPARE_H
#define DRAWLOOM_CODEGEN_TRITON_PREPARE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace drawloom::triton {

/// Inlines calls, widens accumulators of half types, and makes linalg of
/// elementwise ops on tensors.
mlir::LogicalResult simplifyForTtir(mlir::ModuleOp module);

/// Puts all work that stands beside the scf.foralls of a function into ones of
/// its own, cut into blocks by divisors of its extents. What is left between
/// them are scalars, tensor.empty, fills, constants and reshapes and slices,
/// which are views. Every tensor that is returned is the result of an
/// scf.forall, each of another one.
mlir::LogicalResult blockAllWork(mlir::func::FuncOp function);

/// An scf.forall in front of `before` that copies a tensor of static shape.
mlir::Value copyByBlocks(mlir::Operation *before, mlir::Value source);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_PREPARE_H
