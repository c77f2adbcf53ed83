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

/// What computes a value anew, of what the function has at some step.
class Recomputation {
public:
  Recomputation(const FunctionBuffers &buffers, ArrayRef<double> seconds)
      : buffers(buffers), seconds(seconds) {}

  /// Fills in `again` and `needs`, where that can be.
  void consider(MemoryGap &gap) const;

private:
  const FunctionBuffers &buffers;
  ArrayRef<double> seconds;
};

void Recomputation::consider(MemoryGap &gap) const {
  Value value = buffers.values()[gap.value].value;
  Operation *op = value.getDefiningOp();
  if (!isMemoryEffectFree(op))
    return;
  llvm::SetVector<int64_t> needs;
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
      // What is gone by then is not here to compute with.
      if (source.uses.back() < gap.to)
        return WalkResult::interrupt();
      needs.insert(place);
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || !readsTensor)
    return;
  gap.again = seconds[buffers.stepOf(op)];
  gap.needs.assign(needs.begin(), needs.end());
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
  Recomputation recomputation(buffers, model.seconds);
  for (auto [place, value] : llvm::enumerate(buffers.values())) {
    int64_t bytes = model.buffers[value.buffer].bytes;
    if (bytes < leastBytes)
      continue;
    for (size_t i = 0; i + 1 < value.uses.size(); ++i) {
      MemoryGap gap{
          static_cast<int64_t>(place), value.buffer, bytes, value.uses[i],
          value.uses[i + 1],           std::nullopt, {}};
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
  if (function.isExternal())
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
