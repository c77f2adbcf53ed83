//===- DeepDots.h - dots of long inner dimensions ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_DEEPDOTS_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_DEEPDOTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace drawloom::cpu {

/// Returns the dimensions of a contraction with one each of row, column and
/// contraction dimensions.
llvm::FailureOr<mlir::linalg::ContractionDimensions>
dotDimensions(mlir::linalg::LinalgOp op);

/// Returns whether the contraction dimension of a dot is so long that it is
/// split into blocks, so that panels of both operands stay in the second-level
/// cache while in use.
bool isDeep(mlir::linalg::LinalgOp dot);

/// Returns the deep dots of one block, each with its fused consumers, in groups
/// that share one loop: they read one operand along the same contraction
/// dimension, and no op between them depends on one of them. The widest dot is
/// first: the panel packed for it serves the others.
llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<mlir::linalg::LinalgOp>>>
groupDeepDots(llvm::ArrayRef<llvm::SmallVector<mlir::linalg::LinalgOp>> chains);

/// Computes deep dots in one loop over blocks of their contraction dimension.
/// The first block is peeled in front of the loop, where accumulators are
/// initialized. The last one is peeled behind it, where the accumulators have
/// their consumers.
class DeepDots {
public:
  /// Replaces the dots by their parts.
  DeepDots(mlir::RewriterBase &rewriter,
           llvm::ArrayRef<mlir::linalg::LinalgOp> dots);

  /// The parts of all dots, for one range of the contraction dimension after
  /// another.
  llvm::SmallVector<llvm::SmallVector<mlir::linalg::LinalgOp>> parts;

private:
  void addParts(mlir::RewriterBase &rewriter, mlir::OpFoldResult offset,
                int64_t size);

  llvm::ArrayRef<mlir::linalg::LinalgOp> dots;
  llvm::SmallVector<mlir::Value> sums;
};

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_DEEPDOTS_H
