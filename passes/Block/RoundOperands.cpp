//===- RoundOperands.cpp - products in a narrower type --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Block/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_ROUNDOPERANDS
#include "passes/Block/Passes.h.inc"

namespace {

/// What `tensor` was widened from, element by element.
Value narrowSource(Value tensor, Type narrow) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
      getElementTypeOrSelf(op.getInputs()[0].getType()) != narrow ||
      cast<RankedTensorType>(op.getInputs()[0].getType()).getShape() !=
          cast<RankedTensorType>(tensor.getType()).getShape() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return nullptr;
  auto widen = op.getBody()
                   ->getTerminator()
                   ->getOperand(0)
                   .getDefiningOp<arith::ExtFOp>();
  return widen && widen.getIn() == op.getBody()->getArgument(0)
             ? op.getInputs()[0]
             : nullptr;
}

struct RoundOperands : impl::RoundOperandsBase<RoundOperands> {
  void runOnOperation() override {
    SmallVector<linalg::ContractOp> products;
    getOperation().walk([&](linalg::ContractOp op) {
      if (op->hasAttr(block::productTypeAttr))
        products.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::ContractOp op : products) {
      auto narrow = cast<FloatType>(
          op->getAttrOfType<TypeAttr>(block::productTypeAttr).getValue());
      SmallVector<Value> inputs =
          llvm::map_to_vector<2>(op.getInputs(), [&](Value input) {
            return rounded(rewriter, input, narrow);
          });
      // Its body widens them again.
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<linalg::ContractOp>(op, op.getResultTypes(),
                                                      inputs, op.getOutputs(),
                                                      op.getIndexingMaps());
    }
  }

private:
  /// Once for each tile, where it is made.
  Value rounded(IRRewriter &rewriter, Value tile, FloatType narrow) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (type.getElementType().getIntOrFloatBitWidth() <= narrow.getWidth())
      return tile;
    Value &known = made[{tile, narrow}];
    if (known)
      return known;
    if (Value source = narrowSource(tile, narrow))
      return known = source;
    rewriter.setInsertionPointAfterValue(tile);
    Location loc = tile.getLoc();
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, type.getShape(), narrow);
    AffineMap same = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    return known = linalg::GenericOp::create(
                       rewriter, loc, empty.getType(), tile, empty,
                       ArrayRef<AffineMap>{same, same}, loops,
                       [&](OpBuilder &b, Location at, ValueRange e) {
                         linalg::YieldOp::create(
                             b, at,
                             arith::TruncFOp::create(b, at, narrow, e[0])
                                 .getResult());
                       })
                       .getResult(0);
  }

  llvm::DenseMap<std::pair<Value, Type>, Value> made;
};

} // namespace
} // namespace drawloom
