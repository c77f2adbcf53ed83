//===- LinRecDifferentiate.cpp - gradients of recurrences -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Recurrence.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

FailureOr<SmallVector<Value>>
ScanOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                 const llvm::SmallBitVector &needed) {
  Value dO = cotangents[0];
  if (!dO) {
    // Only the final state was used.
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, getLoc(), getV());
    if (getStepsPerToken().value_or(1) > 1)
      sizes[1] = tensor::getMixedSize(builder, getLoc(), getQ(), 1);
    dO = zeros(builder, getLoc(), sizes,
               Recurrence::type(getO()).getElementType());
  }
  SmallVector<Type> types;
  for (Value operand : Recurrence(*this).differentiable())
    types.push_back(operand.getType());
  auto gradient = ScanBwdOp::create(
      builder, getLoc(), types, getQ(), getK(), getV(), getDecay(), getRates(),
      getBeta(), getErase(), getLowrank(), getBonus(), getInitial(),
      getStarts(), dO, cotangents[1], getScaleAttr(), getDecayAlongValuesAttr(),
      getEraseBeforeDecayAttr(), getDecayBoundAttr(), getChunkAttr(),
      getSegmentsAttr(), getValueBlocksAttr(), getCheckpointIntervalAttr(),
      getStepsPerTokenAttr());
  SmallVector<Value> gradients(gradient.getResults());
  if (getStarts())
    gradients.push_back(Value());
  return gradients;
}

FailureOr<SmallVector<Value>>
ScanBwdOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                    const llvm::SmallBitVector &needed) {
  return emitOpError() << "has no gradient: linear recurrences are "
                       << "differentiated once; write the recurrence as a loop "
                       << "over tokens where second derivatives are needed";
}

} // namespace drawloom::linrec
