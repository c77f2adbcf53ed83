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
  Value computeAgain(const MemoryGap &gap);
  Value startAnew(Value init);
  Value now(Value value);
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

/// What stands for `value`, which may be a view, at the step that has been
/// reached.
Value PlanApplier::now(Value value) {
  Operation *def = value.getDefiningOp();
  int64_t place = buffers.valueOf(value);
  if (place < 0 || current[place] == buffers.values()[place].value)
    return value;
  if (value == buffers.values()[place].value)
    return current[place];
  IRMapping mapping;
  mapping.map(def->getOperand(0), now(def->getOperand(0)));
  return builder.clone(*def, mapping)->getResult(0);
}

/// A copy of what an op starts from, which nothing is merged with.
Value PlanApplier::startAnew(Value init) {
  Operation *def = init.getDefiningOp();
  if (def->hasTrait<OpTrait::ConstantLike>())
    return init;
  if (auto fill = dyn_cast<linalg::FillOp>(def)) {
    IRMapping mapping;
    mapping.map(fill.getOutputs()[0], startAnew(fill.getOutputs()[0]));
    return builder.clone(*def, mapping)->getResult(0);
  }
  Value empty = builder.clone(*def)->getResult(0);
  return offload::AgainOp::create(builder, init.getLoc(), empty, copies);
}

Value PlanApplier::computeAgain(const MemoryGap &gap) {
  auto result = cast<OpResult>(buffers.values()[gap.value].value);
  Operation *op = result.getOwner();
  Operation *&clone = again[{op, gap.to}];
  if (!clone) {
    ++copies;
    builder.setInsertionPoint(buffers.steps()[gap.to]);
    IRMapping mapping;
    bool isTold = false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        if (!isa<RankedTensorType>(operand.getType()) ||
            mapping.contains(operand) ||
            op->isAncestor(operand.getParentRegion()->getParentOp()))
          continue;
        if (startsAnew(operand)) {
          mapping.map(operand, startAnew(operand));
          continue;
        }
        Value here = now(operand);
        // One operand is enough to tell the op from what it is a copy of.
        if (!std::exchange(isTold, true))
          here = offload::AgainOp::create(builder, here.getLoc(), here, copies);
        mapping.map(operand, here);
      }
    });
    clone = builder.clone(*op, mapping);
  }
  return clone->getResult(result.getResultNumber());
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
    Value fresh = planned.plan.choices[i] == GapChoice::Store
                      ? load(gap)
                      : computeAgain(gap);
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
