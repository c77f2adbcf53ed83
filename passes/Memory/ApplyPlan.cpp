//===- ApplyPlan.cpp - transfers and recomputations in a function ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Memory/PlannedFunction.h"

using namespace mlir;

namespace drawloom {
namespace {

class PlanApplier {
public:
  explicit PlanApplier(const PlannedFunction &planned)
      : planned(planned), buffers(planned.buffers), function(planned.function),
        builder(function.getContext()) {
    for (const MemoryValue &value : buffers.values())
      current.push_back(value.value);
    records.resize(current.size());
  }
  void run();

private:
  Value load(const MemoryGap &gap);
  Operation *runAgain(Operation *op, int64_t step);
  Value startAnew(Value init, int64_t step, int64_t copy);
  Value at(Value value, int64_t step);
  void replaceFrom(int64_t step, Value old, Value fresh);

  const PlannedFunction &planned;
  const FunctionBuffers &buffers;
  func::FuncOp function;
  OpBuilder builder;
  /// Of each value, what stands for it at the step that has been reached, and
  /// its record, if it has been stored.
  SmallVector<Value> current;
  struct Record {
    offload::StoreOp store;
    Operation *lastAwait = nullptr;
  };
  SmallVector<Record> records;
  /// What has been computed again at a step: several values may be results of
  /// one op.
  DenseMap<std::pair<Operation *, int64_t>, Operation *> again;
  int64_t copies = 0;
};

Value PlanApplier::load(const MemoryGap &gap) {
  Value value = current[gap.value];
  Location loc = value.getLoc();
  Record &record = records[gap.value];
  auto type = cast<RankedTensorType>(value.getType());
  if (!record.store) {
    builder.setInsertionPointAfter(buffers.steps()[gap.from]);
    record.store = offload::StoreOp::create(
        builder, loc, offload::RecordType::get(builder.getContext(), type),
        value);
  }
  builder.setInsertionPoint(buffers.steps()[gap.to]);
  offload::LoadOp::create(builder, loc, record.store.getRecord());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  auto await = offload::AwaitOp::create(builder, loc, type,
                                        record.store.getRecord(), empty);
  record.lastAwait = await;
  return await.getValue();
}

/// What stands for `value`, which may be a view, in front of a step.
Value PlanApplier::at(Value value, int64_t step) {
  int64_t place = buffers.valueOf(value);
  if (place < 0)
    return value;
  const MemoryValue &known = buffers.values()[place];
  if (value != known.value) {
    Operation *view = value.getDefiningOp();
    Value source = at(view->getOperand(0), step);
    if (source == view->getOperand(0))
      return value;
    IRMapping mapping;
    mapping.map(view->getOperand(0), source);
    builder.setInsertionPoint(buffers.steps()[step]);
    return builder.clone(*view, mapping)->getResult(0);
  }
  if (known.uses.back() >= step)
    return current[place];
  auto result = cast<OpResult>(known.value);
  return runAgain(result.getOwner(), step)->getResult(result.getResultNumber());
}

/// A copy of what an op starts from, which nothing is merged with.
Value PlanApplier::startAnew(Value init, int64_t step, int64_t copy) {
  Operation *def = init.getDefiningOp();
  if (def->hasTrait<OpTrait::ConstantLike>())
    return init;
  builder.setInsertionPoint(buffers.steps()[step]);
  if (auto fill = dyn_cast<linalg::FillOp>(def)) {
    IRMapping mapping;
    mapping.map(fill.getOutputs()[0],
                startAnew(fill.getOutputs()[0], step, copy));
    return builder.clone(*def, mapping)->getResult(0);
  }
  Value empty = builder.clone(*def)->getResult(0);
  return offload::AgainOp::create(builder, init.getLoc(), empty, copy);
}

/// A copy of `op` in front of a step, from values that are there and copies of
/// ops that give those that are not.
Operation *PlanApplier::runAgain(Operation *op, int64_t step) {
  if (Operation *known = again.lookup({op, step}))
    return known;
  IRMapping mapping;
  bool isTold = false;
  int64_t copy = ++copies;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()) ||
          mapping.contains(operand) ||
          op->isAncestor(operand.getParentRegion()->getParentOp()))
        continue;
      if (startsAnew(operand)) {
        mapping.map(operand, startAnew(operand, step, copy));
        continue;
      }
      Value here = at(operand, step);
      // One operand is enough to tell the op from what it is a copy of.
      builder.setInsertionPoint(buffers.steps()[step]);
      if (!std::exchange(isTold, true))
        here = offload::AgainOp::create(builder, here.getLoc(), here, copy);
      mapping.map(operand, here);
    }
  });
  builder.setInsertionPoint(buffers.steps()[step]);
  return again[{op, step}] = builder.clone(*op, mapping);
}

/// Lets the steps from `step` on use `fresh` where they used `old`, or views of
/// it.
void PlanApplier::replaceFrom(int64_t step, Value old, Value fresh) {
  Block &body = function.getBody().front();
  SmallVector<Value> shown{old};
  SmallVector<std::pair<OpOperand *, Operation *>> uses;
  for (unsigned i = 0; i < shown.size(); ++i)
    for (OpOperand &use : shown[i].getUses()) {
      Operation *user = use.getOwner();
      Operation *around = body.findAncestorOpInBlock(*user);
      if (around == user && isView(user)) {
        shown.push_back(user->getResult(0));
        continue;
      }
      if (buffers.isStep(around) && buffers.stepOf(around) >= step)
        uses.push_back({&use, around});
    }
  for (auto [use, around] : uses) {
    builder.setInsertionPoint(around);
    SmallVector<Operation *> chain;
    for (Value value = use->get(); value != old;
         value = value.getDefiningOp()->getOperand(0))
      chain.push_back(value.getDefiningOp());
    Value value = fresh;
    for (Operation *view : llvm::reverse(chain)) {
      IRMapping mapping;
      mapping.map(view->getOperand(0), value);
      value = builder.clone(*view, mapping)->getResult(0);
    }
    use->set(value);
  }
}

void PlanApplier::run() {
  SmallVector<size_t> order;
  for (size_t i = 0; i < planned.plan.choices.size(); ++i)
    if (planned.plan.choices[i] != GapChoice::Keep)
      order.push_back(i);
  // What is computed again may need what comes back at the same step, and what
  // was computed before it.
  auto rank = [&](size_t i) {
    const MemoryGap &gap = planned.model.gaps[i];
    bool isStored = planned.plan.choices[i] == GapChoice::Store;
    return std::tuple(gap.to, !isStored,
                      buffers.values()[gap.value].uses.front());
  };
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return rank(a) < rank(b); });
  for (size_t i : order) {
    const MemoryGap &gap = planned.model.gaps[i];
    auto made = cast<OpResult>(buffers.values()[gap.value].value);
    Value fresh = planned.plan.choices[i] == GapChoice::Store
                      ? load(gap)
                      : runAgain(made.getOwner(), gap.to)
                            ->getResult(made.getResultNumber());
    replaceFrom(gap.to, current[gap.value], fresh);
    current[gap.value] = fresh;
  }
  for (Record &record : records)
    if (record.store) {
      builder.setInsertionPointAfter(record.lastAwait);
      offload::DropOp::create(builder, record.store.getLoc(),
                              record.store.getRecord());
    }
}

} // namespace

void applyPlan(const PlannedFunction &planned) { PlanApplier(planned).run(); }

} // namespace drawloom
