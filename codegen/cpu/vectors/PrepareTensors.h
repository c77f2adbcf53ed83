//===- PrepareTensors.h - tensor programs ready for tiling ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_PREPARETENSORS_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_PREPARETENSORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace drawloom::cpu {

/// Normalizes all computation on tensors to the few forms that the scheduler
/// tiles: linalg.fill, contractions and linalg.generic. Elementwise arithmetic,
/// pads, concatenations, generated tensors and splats are converted to these.
/// An init that is only overwritten becomes empty, and one that is a fill gets
/// a single user; an operand that a dot would read across its rows is
/// transposed once; narrow dots become plain reductions.
llvm::LogicalResult prepareTensors(mlir::RewriterBase &rewriter,
                                   mlir::func::FuncOp function, bool pairs);

/// Returns whether a dot's result has too few columns to fill vectors, while
/// its other operand lies along the result's rows, which do fill them.
bool isNarrowDot(mlir::linalg::LinalgOp op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_PREPARETENSORS_H
