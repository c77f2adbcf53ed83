//===- PlanMemory.cpp - values that leave memory between uses -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "passes/Block/Products.h"
#include "passes/Memory/Passes.h"
#include "passes/Memory/PlannedFunction.h"
#include "passes/Memory/StepCost.h"
#include "llvm/Support/FileSystem.h"

namespace drawloom {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Memory/Passes.h.inc"
} // namespace drawloom

using namespace mlir;

namespace drawloom {
namespace {

remark::RemarkOpts remarkOptions(StringRef name) {
  return remark::RemarkOpts::name(name).category("plan-memory");
}

/// Ops that are run again to give values anew.
class Recomputation {
public:
  Recomputation(const FunctionBuffers &buffers, MemoryModel &model)
      : buffers(buffers), model(model) {}

  /// Fills in `runs` and `needs`, where that can be.
  void consider(MemoryGap &gap);

private:
  /// What one gap needs.
  struct Chain {
    int64_t step;
    /// The results of an op that are read, and only in front of the step.
    llvm::MapVector<Operation *, llvm::SetVector<int64_t>> ops;
    llvm::SetVector<int64_t> needs;
  };
  bool add(Operation *op, Chain &chain);

  const FunctionBuffers &buffers;
  MemoryModel &model;
  DenseMap<std::pair<Operation *, int64_t>, int64_t> runs;
  /// More ops than these cost more than any memory is worth.
  static constexpr size_t mostOps = 8;
};

/// Adds an op, and those that give what it reads and what is gone by then.
bool Recomputation::add(Operation *op, Chain &chain) {
  if (chain.ops.contains(op))
    return true;
  if (chain.ops.size() == mostOps || !isMemoryEffectFree(op))
    return false;
  chain.ops[op];
  bool readsTensor = false;
  WalkResult result = op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()) ||
          op->isAncestor(operand.getParentRegion()->getParentOp()) ||
          startsAnew(operand))
        continue;
      readsTensor = true;
      int64_t place = buffers.valueOf(operand);
      if (place < 0)
        continue;
      const MemoryValue &source = buffers.values()[place];
      if (source.uses.back() >= chain.step) {
        chain.needs.insert(place);
        continue;
      }
      Operation *maker = source.value.getDefiningOp();
      if (!add(maker, chain))
        return WalkResult::interrupt();
      chain.ops[maker].insert(place);
    }
    return WalkResult::advance();
  });
  return readsTensor && !result.wasInterrupted();
}

void Recomputation::consider(MemoryGap &gap) {
  Chain chain;
  chain.step = gap.to;
  if (!add(buffers.values()[gap.value].value.getDefiningOp(), chain))
    return;
  for (auto &[op, results] : chain.ops) {
    auto [known, isNew] = runs.try_emplace({op, gap.to}, model.runs.size());
    if (isNew)
      model.runs.push_back({gap.to, model.seconds[buffers.stepOf(op)], 0});
    MemoryRun &run = model.runs[known->second];
    int64_t bytes = 0;
    for (int64_t place : results)
      bytes += bytesOf(buffers.values()[place].value.getType());
    run.bytes = std::max(run.bytes, bytes);
    gap.runs.push_back(known->second);
  }
  gap.needs.assign(chain.needs.begin(), chain.needs.end());
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override;

  MemoryModel model(const FunctionBuffers &buffers);
  LogicalResult write(const PlannedFunction &planned);
};

MemoryModel PlanMemory::model(const FunctionBuffers &buffers) {
  MemoryModel model;
  for (Operation *op : buffers.steps())
    model.seconds.push_back(secondsOf(*op, operations, memory));
  model.buffers.assign(buffers.lifetimes().begin(), buffers.lifetimes().end());
  Recomputation recomputation(buffers, model);
  for (auto [place, value] : llvm::enumerate(buffers.values())) {
    int64_t bytes = model.buffers[value.buffer].bytes;
    if (bytes < leastBytes)
      continue;
    for (size_t i = 0; i + 1 < value.uses.size(); ++i) {
      MemoryGap gap;
      gap.value = static_cast<int64_t>(place);
      gap.buffer = value.buffer;
      gap.bytes = bytes;
      gap.from = value.uses[i];
      gap.to = value.uses[i + 1];
      if (gap.to - gap.from < 2)
        continue;
      recomputation.consider(gap);
      model.gaps.push_back(std::move(gap));
    }
  }
  return model;
}

LogicalResult PlanMemory::write(const PlannedFunction &planned) {
  std::string text = StringRef(explain).ends_with(".json")
                         ? describePlan(planned)
                         : explainPlan(planned);
  std::error_code error;
  llvm::raw_fd_ostream stream(explain, error, llvm::sys::fs::OF_Append);
  if (error)
    return getOperation().emitError("cannot write the plan to '")
           << explain << "': " << error.message();
  stream << text;
  return success();
}

void PlanMemory::runOnOperation() {
  func::FuncOp function = getOperation();
  // Several blocks are for a later phase to refuse.
  if (function.isExternal() || isOpaque(function) ||
      !llvm::hasSingleElement(function.getBody()))
    return;
  FailureOr<FunctionBuffers> buffers = FunctionBuffers::of(function);
  if (failed(buffers)) {
    if (bytes == 0)
      return;
    function.emitError("@")
        << function.getName()
        << " needs as much memory as the extents of a call say, which nobody "
           "knows yet: compile it for the extents of one call";
    return signalPassFailure();
  }
  MemoryRates rates;
  rates.operations = operations;
  rates.memory = memory;
  rates.write = write_;
  rates.read = read;
  rates.copy = copy;
  rates.staging = staging;
  PlannedFunction planned{function, *buffers, model(*buffers), bytes, {}};
  int64_t budget = bytes > 0 ? bytes : std::numeric_limits<int64_t>::max() / 4;
  planned.plan = planMemory(planned.model, budget, rates, mayStore);
  if (!explain.empty() && failed(write(planned)))
    return signalPassFailure();
  const MemoryPlan &plan = planned.plan;
  if (!plan.fits) {
    Operation *step = buffers->steps()[plan.bindingStep];
    emitError(step->getLoc(), "@")
        << function.getName() << " needs a workspace of at least " << plan.bytes
        << " bytes, most of them here, and may have " << budget
        << (mayStore ? ", beside the store's " + Twine(staging.getValue())
                     : Twine())
               .str()
        << ": give it more memory"
        << (mayStore ? "" : ", or a store (--spill)");
    return signalPassFailure();
  }
  for (auto [gap, choice] : llvm::zip_equal(planned.model.gaps, plan.choices))
    if (choice != GapChoice::Keep)
      remark::passed(buffers->values()[gap.value].value.getLoc(),
                     remarkOptions(choice == GapChoice::Again ? "ComputedAgain"
                                                              : "Stored"))
          << remark::metric("bytes", gap.bytes)
          << remark::metric("steps", gap.to - gap.from)
          << (choice == GapChoice::Again
                  ? "is computed again, in place of being kept"
                  : "is kept in the store between two uses");
  if (!reportOnly)
    applyPlan(planned);
}

} // namespace
} // namespace drawloom
