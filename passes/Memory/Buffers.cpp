//===- Buffers.cpp - the memory of a function's tensors -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Buffers.h"
#include "dialects/Offload/Offload.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "passes/Memory/StepCost.h"

using namespace mlir;

namespace drawloom {

bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, offload::AgainOp>(op);
}

bool startsAnew(Value init) {
  Operation *def = init.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(def))
    return startsAnew(fill.getOutputs()[0]);
  return def &&
         (isa<tensor::EmptyOp>(def) || def->hasTrait<OpTrait::ConstantLike>());
}

bool isFree(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op) ||
         isView(op);
}

/// The operands in whose memory the results of `op` lie if that is free; null
/// for those that have memory of their own.
static SmallVector<Value> startsOf(Operation *op) {
  SmallVector<Value> starts(op->getNumResults());
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    for (OpResult result : op->getResults())
      if (OpOperand *init = loop.getTiedLoopInit(result))
        starts[result.getResultNumber()] = init->get();
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    starts[0] = insert.getDest();
  } else if (auto update = dyn_cast<DestinationStyleOpInterface>(op)) {
    for (OpResult result : op->getResults())
      starts[result.getResultNumber()] = update.getTiedOpOperand(result)->get();
  }
  return starts;
}

int64_t FunctionBuffers::valueOf(Value value) const {
  while (Operation *def = value.getDefiningOp()) {
    if (!isView(def))
      break;
    value = def->getOperand(0);
  }
  auto found = places.find(value);
  return found == places.end() ? -1 : found->second;
}

int64_t FunctionBuffers::define(Value value, int64_t step) {
  int64_t place = known.size();
  places[value] = place;
  known.push_back({value, -1, {step}});
  return place;
}

void FunctionBuffers::use(Value value, int64_t step) {
  int64_t place = valueOf(value);
  if (place < 0)
    return;
  SmallVector<int64_t> &uses = known[place].uses;
  if (uses.back() != step)
    uses.push_back(step);
}

/// Adds a step. False where it makes a tensor of an unknown extent.
bool FunctionBuffers::add(Operation *op) {
  int64_t step = ops.size();
  ops.push_back(op);
  numbers[op] = step;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        use(operand, step);
  });
  for (Value result : op->getResults()) {
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    if (tensor && !tensor.hasStaticShape())
      return false;
    if (tensor)
      define(result, step);
  }
  return true;
}

/// Gives values their buffers.
void FunctionBuffers::share(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  for (Operation *op : ops) {
    SmallVector<Value> starts = startsOf(op);
    int64_t step = stepOf(op);
    // One result at most lies where an operand was.
    DenseSet<int64_t> taken;
    for (auto [result, start] : llvm::zip_equal(op->getResults(), starts)) {
      int64_t place = valueOf(result);
      if (place < 0)
        continue;
      MemoryValue &value = known[place];
      int64_t before = start ? valueOf(start) : -1;
      // What is read later on stays as it is, and is copied.
      bool isInPlace =
          before >= 0 && known[before].uses.back() == step &&
          bytesOf(known[before].value.getType()) == bytesOf(result.getType()) &&
          taken.insert(before).second;
      if (isInPlace) {
        value.buffer = known[before].buffer;
        Lifetime &lifetime = buffers[value.buffer];
        lifetime.last = std::max(lifetime.last, value.uses.back());
        continue;
      }
      value.buffer = buffers.size();
      buffers.push_back({bytesOf(result.getType()), step, value.uses.back()});
    }
  }
  // What is returned is computed where the caller wants it.
  for (Value result : end->getOperands())
    if (int64_t place = valueOf(result); place >= 0)
      buffers[known[place].buffer].bytes = 0;
}

FailureOr<FunctionBuffers> FunctionBuffers::of(func::FuncOp function) {
  FunctionBuffers found;
  if (!llvm::hasSingleElement(function.getBody()))
    return failure();
  for (Operation &op : function.getBody().front())
    if (!isFree(&op) && !found.add(&op))
      return failure();
  found.share(function);
  return found;
}

} // namespace drawloom
