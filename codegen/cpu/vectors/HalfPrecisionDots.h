//===- HalfPrecisionDots.h - products of bf16, f16 matrices --*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processors multiply bf16 in pairs: each 32-bit lane of the accumulator gets
// two products of neighbours along the contraction dimension. The left operand
// [M, K] is read as [M, K/2, 2]; the right one must be laid out as [K/2, N, 2].
// If the processor has no such instruction, both operands are converted to f32
// once, before the product reads them many times.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_HALFPRECISIONDOTS_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_HALFPRECISIONDOTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace drawloom::cpu {

class HalfPrecisionDots {
public:
  /// `pairs`: whether the processor multiplies bf16 in pairs.
  HalfPrecisionDots(mlir::RewriterBase &rewriter, bool pairs)
      : rewriter(rewriter), pairs(pairs) {}

  /// Replaces a product of narrow matrices with f32 accumulators by a product
  /// over pairs, or of widened matrices, and returns it; returns `dot` if it is
  /// anything else.
  mlir::linalg::LinalgOp prepare(mlir::linalg::LinalgOp dot);

private:
  mlir::Value paired(mlir::linalg::LinalgOp dot, mlir::Value matrix,
                     bool innerLast, bool left);
  mlir::Value widened(mlir::linalg::LinalgOp dot, mlir::Value matrix);
  /// Records a prepared matrix, so that all dots that read the same matrix
  /// share it.
  mlir::Value remember(mlir::Value matrix, int form, mlir::Value made);
  mlir::Value known(mlir::linalg::LinalgOp dot, mlir::Value matrix, int form);

  mlir::RewriterBase &rewriter;
  bool pairs;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> made;
};

/// Returns whether a product is a product over pairs: loops (m, n, k, 2).
bool isPairDot(mlir::linalg::LinalgOp dot);

/// Returns whether a vector contraction is a product over pairs of bf16: (m, n,
/// k, 2) with [m, k, 2] x [k, n, 2] -> [m, n] in f32.
bool isPairContraction(mlir::vector::ContractionOp op);

/// Restores the unit dimensions of contractions over pairs that simplification
/// removed.
void restoreUnitDimensions(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_HALFPRECISIONDOTS_H
