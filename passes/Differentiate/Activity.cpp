//===- Activity.cpp - which values a derivative needs ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/Activity.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace drawloom {

bool hasGradient(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

SmallVector<Value> operandsAndCaptures(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

Activity::Activity(Block &block, ValueRange inputs, ValueRange outputs) {
  varied.insert(inputs.begin(), inputs.end());
  for (Operation &op : block.without_terminator()) {
    if (llvm::none_of(operandsAndCaptures(&op),
                      [&](Value v) { return isVaried(v); }))
      continue;
    for (Value result : op.getResults())
      if (hasGradient(result.getType()))
        varied.insert(result);
  }
  for (Value output : outputs)
    if (isVaried(output))
      useful.insert(output);
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(), [&](Value v) { return isUseful(v); }))
      continue;
    for (Value operand : operandsAndCaptures(&op))
      if (isVaried(operand))
        useful.insert(operand);
  }
}

bool Activity::isActive(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value v) { return isUseful(v); });
}

} // namespace drawloom
