//===- FillOpenConstants.cpp - constants of unknown extents ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_FILLOPENCONSTANTS
#include "passes/Graph/Passes.h.inc"

namespace {

/// What every element of the result is, if both operands are the same tensor.
std::optional<int64_t> elementOf(Operation *op) {
  if (op->getNumOperands() != 2 || op->getOperand(0) != op->getOperand(1))
    return std::nullopt;
  if (isa<arith::XOrIOp>(op))
    return 0;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(1, 0),
                                    APInt(1, 0));
  return std::nullopt;
}

struct FillOpenConstants : impl::FillOpenConstantsBase<FillOpenConstants> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      std::optional<int64_t> element = elementOf(op);
      auto type = element ? dyn_cast<RankedTensorType>(op->getResultTypes()[0])
                          : RankedTensorType();
      if (!type || type.hasStaticShape())
        return;
      rewriter.setInsertionPoint(op);
      Location loc = op->getLoc();
      Value empty = tensor::EmptyOp::create(
          rewriter, loc,
          tensor::getMixedSizes(rewriter, loc, op->getOperand(0)),
          type.getElementType());
      if (empty.getType() != type)
        empty = tensor::CastOp::create(rewriter, loc, type, empty);
      Value number = arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getIntegerAttr(type.getElementType(), *element));
      rewriter.replaceOp(
          op,
          linalg::FillOp::create(rewriter, loc, number, empty).getResults());
    });
  }
};

} // namespace
} // namespace drawloom
