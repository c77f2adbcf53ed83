//===- ReverseMode.h - gradients of the code of a block ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_DIFFERENTIATE_REVERSEMODE_H
#define DRAWLOOM_PASSES_DIFFERENTIATE_REVERSEMODE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Differentiate/Activity.h"

namespace drawloom {

/// One backward sweep over a block: of a function, of a loop, or the scalar
/// body of a structured op. The code that propagates the cotangents is inserted
/// before the terminator, so that it can use every value of the block. The
/// forward ops stay, except that aggregated ops without a rule of their own are
/// decomposed, and loops get additional results that save values for the
/// backward pass.
class ReverseMode {
public:
  ReverseMode(mlir::RewriterBase &rewriter, mlir::Block &block)
      : rewriter(rewriter), block(block) {}

  /// `cotangents` has one value for each operand of the terminator (null: no
  /// cotangent). Returns one gradient for each of `inputs`, which are block
  /// arguments or values from outside the block (null: zero), added to
  /// `initial` (one for each input, null or none: zero). Emits an error and
  /// fails if an op has no derivative.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  run(mlir::ArrayRef<mlir::Value> cotangents, mlir::ValueRange inputs,
      mlir::ArrayRef<mlir::Value> initial = {});

private:
  /// Rewrites the active ops into a form that has rules.
  mlir::LogicalResult prepare(mlir::ArrayRef<mlir::Value> cotangents,
                              mlir::ValueRange inputs);
  mlir::LogicalResult visit(mlir::Operation *op, const Activity &activity);
  mlir::LogicalResult visitFor(mlir::scf::ForOp loop,
                               mlir::ArrayRef<mlir::Value> cotangents,
                               const Activity &activity);
  mlir::LogicalResult visitIf(mlir::scf::IfOp branch,
                              mlir::ArrayRef<mlir::Value> cotangents,
                              const Activity &activity);
  void accumulate(mlir::Value value, mlir::Value cotangent);
  mlir::Value cotangentOf(mlir::Value value) const {
    return cotangentOfValue.lookup(value);
  }

  mlir::RewriterBase &rewriter;
  mlir::Block &block;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangentOfValue;
};

/// Returns a zero of the type and shape of `like`; tensors are filled, so that
/// they can be written in place.
mlir::Value zerosLike(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value like);

/// Returns an uninitialized tensor of the shape of `like`.
mlir::Value emptyLike(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value like, mlir::Type elementType);

/// Returns a tensor of zeros of the shape of `like`.
mlir::Value zerosLike(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value like, mlir::Type elementType);

/// Returns whether a tensor has an extent of 0. Slices of such a tensor do not
/// pass upstream's verifier, even if they are empty, and its gradient has no
/// elements.
bool isEmptyTensor(mlir::Type type);

/// Turns sums of cotangents of which one is a product into fused multiply-adds,
/// for f32 and f64. To be run after simplification, which has more rules for
/// sums and products.
void fuseCotangentSums(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Erases the ops of `block`, and of its regions, whose results are unused.
void eraseDeadOps(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_DIFFERENTIATE_REVERSEMODE_H
