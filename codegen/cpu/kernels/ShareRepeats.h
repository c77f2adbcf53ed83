//===- ShareRepeats.h - functions of repeated code --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_SHAREREPEATS_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_SHAREREPEATS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::cpu {

/// Creates an internal function in front of `user` for code that `user` calls
/// often, which the optimizer does not put back in place. It has an entry block
/// and no return yet; its name begins with `name`.
mlir::func::FuncOp createSharedFunction(mlir::func::FuncOp user,
                                        mlir::SymbolTable &symbols,
                                        mlir::Location loc,
                                        const llvm::Twine &name,
                                        mlir::FunctionType type);

/// About how many machine vectors a value is.
int64_t vectorsOf(mlir::Type type);

/// Whether `op` takes an elementary function of f32 or of narrower floats, of
/// which a vector becomes some thirty operations. Square roots and their like
/// are instructions.
bool isElementaryFunction(mlir::Operation *op);
/// The same of a vector.
bool isElementaryFunctionOfVector(mlir::Operation *op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_SHAREREPEATS_H
