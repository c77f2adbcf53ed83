//===- HalfPrecisionDots.h - products of bf16, f16 matrices --*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processors multiply bf16 in pairs: each 32-bit lane of the sum gets two
// products of neighbours along the inner dimension. The left operand [M, K] is
// read as [M, K/2, 2]; the right one must lie as [K/2, N, 2]. Where a processor
// has no such instruction, both are converted to f32 once, before the product
// reads them many times.
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
  /// `pairs`: the processor multiplies bf16 in pairs.
  HalfPrecisionDots(mlir::RewriterBase &rewriter, bool pairs)
      : rewriter(rewriter), pairs(pairs) {}

  /// Replaces a product of narrow matrices summed up in f32 by one over pairs,
  /// or of wide matrices; returns it, or `dot` where it is something else.
  mlir::linalg::LinalgOp prepare(mlir::linalg::LinalgOp dot);

private:
  mlir::Value paired(mlir::linalg::LinalgOp dot, mlir::Value matrix,
                     bool innerLast, bool left);
  mlir::Value widened(mlir::linalg::LinalgOp dot, mlir::Value matrix);
  /// Once for all dots that read the same.
  mlir::Value remember(mlir::Value matrix, int form, mlir::Value made);
  mlir::Value known(mlir::linalg::LinalgOp dot, mlir::Value matrix, int form);

  mlir::RewriterBase &rewriter;
  bool pairs;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> made;
};

/// Whether a product is one over pairs: loops (m, n, k, 2).
bool isPairDot(mlir::linalg::LinalgOp dot);

/// Whether the contraction of vectors is one over pairs of bf16: (m, n, k, 2)
/// with [m, k, 2] x [k, n, 2] -> [m, n] in f32.
bool isPairContraction(mlir::vector::ContractionOp op);

/// Gives contractions over pairs the unit dimensions back that simplification
/// has taken from them.
void restoreUnitDimensions(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_HALFPRECISIONDOTS_H
