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

/// Brings everything that computes on tensors into the few forms that the
/// scheduler tiles: linalg.fill, contractions, linalg.generic. Elementwise
/// arithmetic, pads, concatenations, generated and splat tensors become those;
/// an init that is only overwritten is empty, one that is a fill belongs to one
/// reader; an operand that a dot would read across its rows is transposed once;
/// narrow dots become plain reductions.
llvm::LogicalResult prepareTensors(mlir::RewriterBase &rewriter,
                                   mlir::func::FuncOp function, bool pairs);

/// A dot whose result has too few columns to fill vectors, and whose other
/// operand lies along the result's rows, which do.
bool isNarrowDot(mlir::linalg::LinalgOp op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_PREPARETENSORS_H
