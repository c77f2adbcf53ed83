//===- Inits.cpp - what an op reads of its results ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Inits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom {

bool isFunctionArgument(Value value) {
  return isa<BlockArgument>(value) &&
         isa<func::FuncOp>(value.getParentRegion()->getParentOp());
}

void readInitsAsInputs(RewriterBase &rewriter, linalg::GenericOp op,
                       llvm::function_ref<bool(Value)> which) {
  if (op.getNumParallelLoops() != op.getNumLoops() || op.getNumLoops() == 0 ||
      cast<linalg::LinalgOp>(*op).hasDynamicShape())
    return;
  SmallVector<Value> inputs = op.getInputs(), outputs = op.getOutputs();
  SmallVector<AffineMap> inputMaps, outputMaps;
  SmallVector<unsigned> moved;
  for (OpOperand &operand : op->getOpOperands())
    (op.isDpsInit(&operand) ? outputMaps : inputMaps)
        .push_back(op.getMatchingIndexingMap(&operand));
  rewriter.setInsertionPoint(op);
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!op.payloadUsesValueFromOperand(&init) || !which(init.get()))
      continue;
    auto type = cast<RankedTensorType>(init.get().getType());
    inputs.push_back(init.get());
    inputMaps.push_back(outputMaps[i]);
    outputs[i] = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                         type.getElementType());
    moved.push_back(i);
  }
  if (moved.empty())
    return;
  unsigned oldInputs = op.getNumDpsInputs();
  inputMaps.append(outputMaps);
  auto replacement = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, outputs, inputMaps,
      op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), replacement.getRegion(),
                              replacement.getRegion().begin());
  Block &body = replacement.getRegion().front();
  for (auto [n, i] : llvm::enumerate(moved)) {
    Type element = getElementTypeOrSelf(outputs[i].getType());
    Value input = body.insertArgument(oldInputs + n, element, op.getLoc());
    body.getArgument(oldInputs + n + 1 + i).replaceAllUsesWith(input);
  }
  rewriter.replaceOp(op, replacement.getResults());
}

} // namespace drawloom
