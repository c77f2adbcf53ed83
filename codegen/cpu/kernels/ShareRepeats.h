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

/// Creates an internal, non-inlined function in front of `user` for code that
/// `user` calls often. The function has an entry block and no return yet; its
/// name begins with `name`.
mlir::func::FuncOp createSharedFunction(mlir::func::FuncOp user,
                                        mlir::SymbolTable &symbols,
                                        mlir::Location loc,
                                        const llvm::Twine &name,
                                        mlir::FunctionType type);

/// Estimates the number of machine vectors that a value takes.
int64_t vectorsOf(mlir::Type type);

/// Returns whether `op` is an elementary function of f32 or narrower floats,
/// which expands to about thirty operations per vector. Square roots and
/// similar functions, which are instructions, do not count.
bool isElementaryFunction(mlir::Operation *op);
/// Like isElementaryFunction, for vectors only.
bool isElementaryFunctionOfVector(mlir::Operation *op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_SHAREREPEATS_H
