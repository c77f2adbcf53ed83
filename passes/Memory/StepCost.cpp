//===- StepCost.cpp - how long steps take ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/StepCost.h"
#include "dialects/Offload/Offload.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Memory/Buffers.h"
#include "passes/Memory/Operations.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom {

int64_t bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  Type element = shaped.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return shaped.getNumElements() * llvm::divideCeil(bits, 8);
}

double secondsOf(Operation &op, double operations, double memory) {
  if (isFree(&op) ||
      isa<offload::StoreOp, offload::LoadOp, offload::AwaitOp, offload::DropOp>(
          op))
    return 0;
  llvm::SetVector<Value> touched;
  auto touch = [&](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    bool isOutside = !op.isAncestor(value.getParentRegion()->getParentOp());
    if (tensor && tensor.hasStaticShape() && isOutside && !startsAnew(value))
      touched.insert(value);
  };
  op.walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      touch(operand);
  });
  double bytes = 0;
  for (Value value : touched)
    bytes += static_cast<double>(bytesOf(value.getType()));
  for (Value result : op.getResults())
    if (auto tensor = dyn_cast<RankedTensorType>(result.getType());
        tensor && tensor.hasStaticShape())
      bytes += static_cast<double>(bytesOf(tensor));
  double count = countOperations(op).value_or(0);
  // What a library computes is said by the body of its function.
  if (auto call = dyn_cast<func::CallOp>(op))
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr()))
      count += countRegions(*callee).value_or(0);
  return std::max(count / operations, bytes / memory);
}

} // namespace drawloom
