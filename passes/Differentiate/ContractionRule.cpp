//===- ContractionRule.cpp - derivatives of sums of products --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Differentiate/ReverseMode.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;
using linalg::LinalgOp;
using llvm::SmallBitVector;

namespace drawloom {

bool isFloatContraction(LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()) ||
        !hasGradient(operand.getType()))
      return false;
  // The product of the operands as they are, apart from changes of precision.
  for (Operation &inner : *op.getBlock())
    if (!isa<arith::MulFOp, arith::AddFOp, arith::ExtFOp, arith::TruncFOp,
             linalg::YieldOp>(inner))
      return false;
  // linalg.contract wants each loop in two of the three operands.
  SmallVector<int> uses(op.getNumLoops());
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr result : map.getResults())
      ++uses[cast<AffineDimExpr>(result).getPosition()];
  return llvm::all_of(uses, [](int n) { return n >= 2; });
}

/// Whether some loop of `lhs` and `rhs` is missing in `result`.
static bool contractsSomething(AffineMap lhs, AffineMap rhs, AffineMap result) {
  return llvm::any_of(lhs.getResults(), [&](AffineExpr e) {
    return llvm::is_contained(rhs.getResults(), e) &&
           !llvm::is_contained(result.getResults(), e);
  });
}

/// C[c] += A[a] B[b] gives dA[a] += G[c] B[b] and dB[b] += G[c] A[a]: the same
/// loops with the roles changed.
Gradients contractionVjp(LinalgOp op, OpBuilder &builder, Value cotangent,
                         const SmallBitVector &needed,
                         SmallBitVector &remaining) {
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Gradients gradients(3);
  remaining = needed;
  if (needed[2]) {
    gradients[2] = cotangent;
    remaining.reset(2);
  }
  for (unsigned i : {0u, 1u}) {
    unsigned other = 1 - i;
    if (!needed[i] || !contractsSomething(maps[2], maps[other], maps[i]))
      continue;
    Value operand = op->getOperand(i);
    auto type = cast<RankedTensorType>(operand.getType());
    Type sumType = accumulatorType(type.getElementType());
    Value init = zerosLike(builder, loc, operand, sumType);
    Value product =
        linalg::ContractOp::create(
            builder, loc, init.getType(),
            ValueRange{cotangent, op->getOperand(other)}, ValueRange{init},
            builder.getAffineMapArrayAttr({maps[2], maps[other], maps[i]}))
            .getResult(0);
    if (sumType != type.getElementType())
      product = arith::TruncFOp::create(builder, loc, type, product);
    gradients[i] = product;
    remaining.reset(i);
  }
  return gradients;
}

namespace {

template <typename OpTy>
struct StructuredRuleModel
    : DifferentiableOpInterface::ExternalModel<StructuredRuleModel<OpTy>,
                                               OpTy> {
  FailureOr<Gradients> buildVjp(Operation *op, OpBuilder &builder,
                                ValueRange cotangents,
                                const SmallBitVector &needed) const {
    auto structured = cast<LinalgOp>(op);
    if (!isFloatContraction(structured))
      return genericVjp(structured, builder, cotangents, needed);
    SmallBitVector remaining;
    Gradients gradients = contractionVjp(structured, builder,
                                         cotangents.front(), needed, remaining);
    if (remaining.none())
      return gradients;
    FailureOr<Gradients> rest =
        genericVjp(structured, builder, cotangents, remaining);
    if (failed(rest))
      return failure();
    for (unsigned i : remaining.set_bits())
      gradients[i] = (*rest)[i];
    return gradients;
  }
};

} // namespace

/// g transposed back.
static Gradients transposeRule(linalg::TransposeOp op, Value g,
                               ScalarBuilder &b, const SmallBitVector &) {
  Value init = emptyLike(
      b.builder, b.loc, op.getInput(),
      cast<RankedTensorType>(op.getInput().getType()).getElementType());
  SmallVector<int64_t> inverse = invertPermutationVector(op.getPermutation());
  return {linalg::TransposeOp::create(b.builder, b.loc, g, init, inverse)
              ->getResult(0),
          Value()};
}

template <typename OpTy>
static void attachStructuredRule(MLIRContext *context) {
  if constexpr (std::is_same_v<OpTy, linalg::TransposeOp>)
    attachRule<OpTy, transposeRule>(context);
  else
    OpTy::template attachInterface<StructuredRuleModel<OpTy>>(*context);
}

template <typename... OpTys>
static void attachStructuredRules(MLIRContext *context) {
  (attachStructuredRule<OpTys>(context), ...);
}

void attachLinalgRules(MLIRContext *context) {
  attachStructuredRules<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
      >(context);
}

} // namespace drawloom
