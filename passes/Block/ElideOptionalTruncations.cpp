//===- ElideOptionalTruncations.cpp - drop optional roundings ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Block/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_ELIDEOPTIONALTRUNCATIONS
#include "passes/Block/Passes.h.inc"

namespace {

/// The rounding that makes result `i`, if it may be left out.
arith::TruncFOp optionalRounding(linalg::GenericOp op, unsigned i) {
  auto rounding = op.getBody()
                      ->getTerminator()
                      ->getOperand(i)
                      .getDefiningOp<arith::TruncFOp>();
  if (!rounding || !rounding->hasOneUse() || !rounding.getFastmath() ||
      !bitEnumContainsAny(*rounding.getFastmath(),
                          arith::FastMathFlags::contract))
    return nullptr;
  return rounding;
}

/// Whether a reader computes in the wide type anyway.
bool widens(OpOperand &use, Type wide) {
  if (auto product = dyn_cast<linalg::ContractOp>(use.getOwner()))
    return product.isDpsInput(&use) &&
           getElementTypeOrSelf(product->getResult(0).getType()) == wide;
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && op.isDpsInput(&use) &&
         llvm::all_of(op.getMatchingBlockArgument(&use).getUsers(),
                      [&](Operation *user) {
                        return isa<arith::ExtFOp>(user) &&
                               user->getResult(0).getType() == wide;
                      });
}

/// Makes readers take what they would widen.
void readWide(IRRewriter &rewriter, Value narrow, Value wide) {
  for (Operation *reader : llvm::SmallSetVector<Operation *, 4>(
           narrow.user_begin(), narrow.user_end())) {
    if (auto op = dyn_cast<linalg::GenericOp>(reader)) {
      for (OpOperand *input : op.getDpsInputOperands()) {
        if (input->get() != narrow)
          continue;
        BlockArgument element = op.getMatchingBlockArgument(input);
        element.setType(getElementTypeOrSelf(wide.getType()));
        for (Operation *user : llvm::make_early_inc_range(element.getUsers()))
          rewriter.replaceOp(user, element);
        input->set(wide);
      }
      continue;
    }
    // A product's body depends on the types.
    auto product = cast<linalg::ContractOp>(reader);
    SmallVector<Value> inputs(product.getInputs());
    llvm::replace(inputs, narrow, wide);
    rewriter.setInsertionPoint(product);
    rewriter.replaceOpWithNewOp<linalg::ContractOp>(
        product, product.getResultTypes(), inputs, product.getOutputs(),
        product.getIndexingMaps());
  }
}

struct ElideOptionalTruncations
    : impl::ElideOptionalTruncationsBase<ElideOptionalTruncations> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      keepWide(rewriter, op);
  }

private:
  static void keepWide(IRRewriter &rewriter, linalg::GenericOp op) {
    llvm::SmallMapVector<unsigned, arith::TruncFOp, 2> roundings;
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      arith::TruncFOp rounding = optionalRounding(op, i);
      if (rounding && !op->getResult(i).use_empty() &&
          op.getRegionOutputArgs()[i].use_empty() &&
          llvm::all_of(op->getResult(i).getUses(), [&](OpOperand &use) {
            return widens(use, rounding.getIn().getType());
          }))
        roundings[i] = rounding;
    }
    if (roundings.empty())
      return;
    rewriter.setInsertionPoint(op);
    SmallVector<Value> outs(op.getOutputs());
    SmallVector<Type> types(op.getResultTypes());
    for (auto [i, rounding] : roundings) {
      auto type = cast<RankedTensorType>(types[i]);
      Type wide = rounding.getIn().getType();
      types[i] = type.clone(wide);
      outs[i] =
          tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), wide);
    }
    auto kept = linalg::GenericOp::create(
        rewriter, op.getLoc(), types, op.getInputs(), outs,
        op.getIndexingMapsArray(), op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), kept.getRegion(),
                                kept.getRegion().begin());
    for (auto [i, rounding] : roundings) {
      Value in = rounding.getIn();
      kept.getRegionOutputArgs()[i].setType(in.getType());
      rewriter.replaceOp(rounding, in);
      readWide(rewriter, op->getResult(i), kept->getResult(i));
    }
    rewriter.replaceOp(op, kept->getResults());
  }
};

} // namespace
} // namespace drawloom
