//===- FoldZeroElementTensors.cpp - drop work without elements -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Graph/OpenExtents.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_FOLDZEROELEMENTTENSORS
#include "passes/Graph/Passes.h.inc"

namespace {

bool hasNoElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// Whether a call gave an extent of 0.
bool givesNoRows(func::FuncOp function) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), givenDimsAttr);
    return type && dims && llvm::any_of(dims.asArrayRef(), [&](int64_t dim) {
             return dim < type.getRank() && type.getDimSize(dim) == 0;
           });
  });
}

/// Whether an op is, or becomes, one with loops, and somebody wants it.
bool hasLoops(Operation *op) {
  return !op->use_empty() && !op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<tensor::TensorDialect>(op->getDialect()) &&
         !isa<linalg::FillOp, linalg::TransposeOp, linalg::CopyOp>(op);
}

struct FoldZeroElementTensors
    : impl::FoldZeroElementTensorsBase<FoldZeroElementTensors> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    func::FuncOp function = getOperation();
    bool isGiven = !function.isExternal() && givesNoRows(function);
    auto leaveOut = [&](Operation *op, ValueRange values) {
      if (isGiven && hasLoops(op))
        function->setAttr(noGivenRowsAttr, rewriter.getUnitAttr());
      rewriter.replaceOp(op, values);
    };
    function.walk([&](Operation *op) {
      if (op->getNumResults() == 0 || isa<tensor::EmptyOp>(op) ||
          !isMemoryEffectFree(op))
        return;
      rewriter.setInsertionPoint(op);
      if (llvm::all_of(op->getResults(), hasNoElements)) {
        SmallVector<Value> empties;
        for (Value result : op->getResults())
          empties.push_back(tensor::EmptyOp::create(
              rewriter, op->getLoc(), result.getType(), ValueRange{}));
        leaveOut(op, empties);
        return;
      }
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
          insert && hasNoElements(insert.getSource())) {
        rewriter.replaceOp(op, insert.getDest());
        return;
      }
      if (auto concat = dyn_cast<tensor::ConcatOp>(op);
          concat && llvm::any_of(concat.getInputs(), hasNoElements)) {
        SmallVector<Value> parts(
            llvm::make_filter_range(concat.getInputs(), [](Value part) {
              return !hasNoElements(part);
            }));
        rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, concat.getType(),
                                                      concat.getDim(), parts);
        return;
      }
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      if (linalgOp && linalgOp.hasPureTensorSemantics() &&
          llvm::is_contained(linalgOp.getStaticLoopRanges(), 0))
        leaveOut(op, linalgOp.getDpsInits());
    });
  }
};

} // namespace
} // namespace drawloom
