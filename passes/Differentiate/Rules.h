//===- Rules.h - derivatives of upstream ops --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_DIFFERENTIATE_RULES_H
#define DRAWLOOM_PASSES_DIFFERENTIATE_RULES_H

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace drawloom {

using Gradients = llvm::SmallVector<mlir::Value>;

/// Makes a function `Gradients rule(OpTy op, Value g, ScalarBuilder &b, const
/// SmallBitVector &needed)` the rule of a one-result op.
template <typename OpTy, auto rule>
struct RuleModel
    : DifferentiableOpInterface::ExternalModel<RuleModel<OpTy, rule>, OpTy> {
  mlir::FailureOr<Gradients>
  buildVjp(mlir::Operation *op, mlir::OpBuilder &builder,
           mlir::ValueRange cotangents,
           const llvm::SmallBitVector &needed) const {
    ScalarBuilder b(builder, op->getLoc());
    return rule(mlir::cast<OpTy>(op), cotangents.front(), b, needed);
  }
};

/// Makes a function `Value rule(OpTy op, Value g, ScalarBuilder &b)` the rule
/// of an op with one operand and one result.
template <typename OpTy, auto rule>
struct UnaryRuleModel
    : DifferentiableOpInterface::ExternalModel<UnaryRuleModel<OpTy, rule>,
                                               OpTy> {
  mlir::FailureOr<Gradients> buildVjp(mlir::Operation *op,
                                      mlir::OpBuilder &builder,
                                      mlir::ValueRange cotangents,
                                      const llvm::SmallBitVector &) const {
    ScalarBuilder b(builder, op->getLoc());
    return Gradients{rule(mlir::cast<OpTy>(op), cotangents.front(), b)};
  }
};

/// The rule of an op whose derivative is zero wherever it exists.
template <typename OpTy>
struct ZeroRuleModel
    : DifferentiableOpInterface::ExternalModel<ZeroRuleModel<OpTy>, OpTy> {
  mlir::FailureOr<Gradients> buildVjp(mlir::Operation *op, mlir::OpBuilder &,
                                      mlir::ValueRange,
                                      const llvm::SmallBitVector &) const {
    return Gradients(op->getNumOperands());
  }
};

template <typename OpTy, auto rule>
void attachRule(mlir::MLIRContext *context) {
  OpTy::template attachInterface<RuleModel<OpTy, rule>>(*context);
}
template <typename OpTy, auto rule>
void attachUnaryRule(mlir::MLIRContext *context) {
  OpTy::template attachInterface<UnaryRuleModel<OpTy, rule>>(*context);
}
template <typename... OpTys> void attachZeroRules(mlir::MLIRContext *context) {
  (OpTys::template attachInterface<ZeroRuleModel<OpTys>>(*context), ...);
}

/// Returns the type in which gradients of values of type `element` are
/// accumulated: f32 for narrower types, else the type itself.
mlir::Type accumulatorType(mlir::Type element);

void attachArithRules(mlir::MLIRContext *context);
void attachLinalgRules(mlir::MLIRContext *context);
void attachMathRules(mlir::MLIRContext *context);
void attachScanRule(mlir::MLIRContext *context);
void attachTensorRules(mlir::MLIRContext *context);
void attachTraverseRule(mlir::MLIRContext *context);

/// Returns the gradients of a structured op that is a contraction (a sum of
/// products): one `linalg.contract` for each operand, accumulated in at least
/// f32 and rounded to the operand's type at the end. Operands whose gradient is
/// not a contraction (an outer product) are left to `genericVjp`: their bits
/// stay in `remaining`.
Gradients contractionVjp(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder,
                         mlir::Value cotangent,
                         const llvm::SmallBitVector &needed,
                         llvm::SmallBitVector &remaining);

/// Returns whether `contractionVjp` applies.
bool isFloatContraction(mlir::linalg::LinalgOp op);

/// Returns the gradients of any structured op, computed by one multi-result
/// `linalg.generic` whose body is the reverse of the scalar body.
mlir::FailureOr<Gradients> genericVjp(mlir::linalg::LinalgOp op,
                                      mlir::OpBuilder &builder,
                                      mlir::ValueRange cotangents,
                                      const llvm::SmallBitVector &needed);

/// Turns float scalars that the body of `op` captures into operands, so that
/// they can have a gradient. Fails for other captured values.
mlir::LogicalResult promoteCaptures(mlir::RewriterBase &rewriter,
                                    mlir::linalg::LinalgOp op,
                                    mlir::ValueRange captures);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_DIFFERENTIATE_RULES_H
