//===- ArithRules.cpp - derivatives of arith ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;
using llvm::SmallBitVector;

namespace drawloom {

static Gradients addRule(arith::AddFOp, Value g, ScalarBuilder &,
                         const SmallBitVector &) {
  return {g, g};
}

static Gradients subRule(arith::SubFOp, Value g, ScalarBuilder &b,
                         const SmallBitVector &needed) {
  return {g, needed[1] ? b.neg(g) : Value()};
}

static Gradients mulRule(arith::MulFOp op, Value g, ScalarBuilder &b,
                         const SmallBitVector &needed) {
  return {needed[0] ? b.mul(g, op.getRhs()) : Value(),
          needed[1] ? b.mul(g, op.getLhs()) : Value()};
}

/// y = a / c: da = g / c, dc = -(g / c) (a / c). The reciprocal is shared, and
/// y is not read: where the forward code is repeated only for its derivative,
/// one division remains.
static Gradients divRule(arith::DivFOp op, Value g, ScalarBuilder &b,
                         const SmallBitVector &needed) {
  if (!needed[1])
    return {b.div(g, op.getRhs()), Value()};
  Value reciprocal = b.div(1.0, op.getRhs());
  Value numerator = b.mul(g, reciprocal);
  return {numerator, b.neg(b.mul(numerator, b.mul(op.getLhs(), reciprocal)))};
}

/// remf(a, c) = a - c trunc(a / c), where trunc is locally constant.
static Gradients remRule(arith::RemFOp op, Value g, ScalarBuilder &b,
                         const SmallBitVector &needed) {
  if (!needed[1])
    return {g, Value()};
  Value quotient =
      math::TruncOp::create(b.builder, b.loc, b.div(op.getLhs(), op.getRhs()));
  return {g, b.neg(b.mul(g, quotient))};
}

static Value negRule(arith::NegFOp, Value g, ScalarBuilder &b) {
  return b.neg(g);
}

static Value extRule(arith::ExtFOp op, Value g, ScalarBuilder &b) {
  return arith::TruncFOp::create(b.builder, b.loc, op.getIn().getType(), g);
}

static Value truncRule(arith::TruncFOp op, Value g, ScalarBuilder &b) {
  return arith::ExtFOp::create(b.builder, b.loc, op.getIn().getType(), g);
}

/// The gradient goes to the operand that was taken. The untaken one gets a
/// zero, not g times a mask, so that an infinite g stays on its side.
static Gradients selectRule(arith::SelectOp op, Value g, ScalarBuilder &b,
                            const SmallBitVector &needed) {
  Value zero = b.constant(0.0, g);
  return {Value(), needed[1] ? b.select(op.getCondition(), g, zero) : Value(),
          needed[2] ? b.select(op.getCondition(), zero, g) : Value()};
}

/// The gradient goes to the operand that was taken. Of equal operands that is
/// the second one, so that the derivative of max(x, 0), where a constant stands
/// second in canonical form, is 0 at 0.
template <typename OpTy, arith::CmpFPredicate takesFirst>
static Gradients extremumRule(OpTy op, Value g, ScalarBuilder &b,
                              const SmallBitVector &needed) {
  Value first = arith::CmpFOp::create(b.builder, b.loc, takesFirst, op.getLhs(),
                                      op.getRhs());
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op.getOperation())) {
    // These two prefer a number to a NaN.
    Value secondIsNan = arith::CmpFOp::create(
        b.builder, b.loc, arith::CmpFPredicate::UNO, op.getRhs(), op.getRhs());
    first = arith::OrIOp::create(b.builder, b.loc, first, secondIsNan);
  }
  Value zero = b.constant(0.0, g);
  return {needed[0] ? b.select(first, g, zero) : Value(),
          needed[1] ? b.select(first, zero, g) : Value()};
}

void attachArithRules(MLIRContext *context) {
  using arith::CmpFPredicate;
  attachRule<arith::AddFOp, addRule>(context);
  attachRule<arith::SubFOp, subRule>(context);
  attachRule<arith::MulFOp, mulRule>(context);
  attachRule<arith::DivFOp, divRule>(context);
  attachRule<arith::RemFOp, remRule>(context);
  attachRule<arith::SelectOp, selectRule>(context);
  attachRule<arith::MaximumFOp,
             extremumRule<arith::MaximumFOp, CmpFPredicate::OGT>>(context);
  attachRule<arith::MaxNumFOp,
             extremumRule<arith::MaxNumFOp, CmpFPredicate::OGT>>(context);
  attachRule<arith::MinimumFOp,
             extremumRule<arith::MinimumFOp, CmpFPredicate::OLT>>(context);
  attachRule<arith::MinNumFOp,
             extremumRule<arith::MinNumFOp, CmpFPredicate::OLT>>(context);
  attachUnaryRule<arith::NegFOp, negRule>(context);
  attachUnaryRule<arith::ExtFOp, extRule>(context);
  attachUnaryRule<arith::TruncFOp, truncRule>(context);
}

} // namespace drawloom
