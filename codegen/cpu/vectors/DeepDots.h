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

/// Of a contraction with rows, columns and an inner dimension.
llvm::FailureOr<mlir::linalg::ContractionDimensions>
dotDimensions(mlir::linalg::LinalgOp op);

/// Whether the reduction of a dot is so long that it goes in blocks, so that
/// panels of both operands stay in the second-level cache while they are used.
bool isDeep(mlir::linalg::LinalgOp dot);

/// Deep dots of one block, each with the ops behind it, in groups that are
/// computed in one loop: they read one operand along the same inner dimension,
/// and nothing between them needs one of them. The widest is first: what is
/// packed for it serves the others.
llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<mlir::linalg::LinalgOp>>>
groupDeepDots(llvm::ArrayRef<llvm::SmallVector<mlir::linalg::LinalgOp>> chains);

/// Deep dots in one loop over blocks of their inner dimension. The first block
/// is in front of the loop: there sums start. The last one is behind it: there
/// they have their readers.
class DeepDots {
public:
  /// Replaces the dots by their parts.
  DeepDots(mlir::RewriterBase &rewriter,
           llvm::ArrayRef<mlir::linalg::LinalgOp> dots);

  /// The parts of all dots, range by range of the inner dimension.
  llvm::SmallVector<llvm::SmallVector<mlir::linalg::LinalgOp>> parts;

private:
  void addParts(mlir::RewriterBase &rewriter, mlir::OpFoldResult offset,
                int64_t size);

  llvm::ArrayRef<mlir::linalg::LinalgOp> dots;
  llvm::SmallVector<mlir::Value> sums;
};

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_DEEPDOTS_H
