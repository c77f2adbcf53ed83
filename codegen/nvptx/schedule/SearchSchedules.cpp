//===- SearchSchedules.cpp - which schedule a kernel gets -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each schedule is tried on the kernel itself, by the passes that anybody can
// run (nvptx-apply-schedule). What they made is kept aside, and the kernel is
// put back to what it was before the next trial.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/schedule/Estimate.h"
#include "codegen/nvptx/schedule/Schedule.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXSEARCHSCHEDULES
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {

void buildApplySchedule(OpPassManager &pm,
                        const ApplyScheduleOptions &options) {
  pm.addPass(createNvptxTileK({options.productBytes, /*onlyInputs=*/false}));
  pm.addPass(createNvptxRematerialize());
  pm.addPass(createNvptxRelayoutReductions());
  pm.addPass(createNvptxAssignLayouts());
  pm.addPass(createNvptxStageOperands());
  pm.addPass(createNvptxDeferReductions());
  pm.addPass(createNvptxStageVectors());
  pm.addPass(createNvptxHoistStaging({options.staging}));
  pm.addPass(createNvptxExpandConversions());
  pm.addPass(createNvptxSpillToShared({options.limit}));
  pm.addPass(createNvptxPadBuffers({options.limit}));
  pm.addPass(createNvptxPipelineCopies({options.limit}));
}

void registerApplySchedule() {
  PassPipelineRegistration<ApplyScheduleOptions>(
      "nvptx-apply-schedule",
      "Give kernels their layouts and shared memory by one schedule",
      [](OpPassManager &pm, const ApplyScheduleOptions &options) {
        bool isFunction =
            pm.getOpAnchorName() == func::FuncOp::getOperationName();
        buildApplySchedule(isFunction ? pm : pm.nest<func::FuncOp>(), options);
      });
}

namespace {

/// A kernel with the layouts of a schedule, and what that will cost.
struct Candidate {
  Schedule schedule;
  OwningOpRef<func::FuncOp> kernel;
  Estimate said;
};

/// Sums that loops carry live in registers from end to end: where four warps
/// would need more than 64 of each thread for them, eight share them. The
/// predictions have no say in it before they are as good as this rule.
int64_t chooseWarps(func::FuncOp kernel) {
  int64_t most = 0;
  kernel.walk([&](scf::ForOp loop) {
    int64_t elements = 0;
    for (Value carried : loop.getRegionIterArgs())
      if (auto type = dyn_cast<RankedTensorType>(carried.getType()))
        elements += type.getNumElements();
    most = std::max(most, elements);
  });
  return most > 4 * 32 * 64 ? 8 : 4;
}

/// Predicted registers of a thread from which on a kernel that scans in loops
/// takes the other number of warps. Other kernels do where they lack some.
/// Neither depends on the length of loops: a recurrence has the same bits for
/// any.
constexpr int64_t mostPredictedOfScans = 176;
DictionaryAttr toAttribute(const Candidate &candidate, MLIRContext *context) {
  Builder builder(context);
  const Estimate &it = candidate.said;
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, int64_t value) {
    entries.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  };
  add("blocks_at_once", it.resident);
  entries.push_back(
      builder.getNamedAttr("bound", builder.getStringAttr(it.bound)));
  add("clocks", static_cast<int64_t>(it.clocks));
  add("registers", it.registers);
  add("shared_bytes", it.sharedBytes);
  add("spilled", it.spilled);
  add("warps", candidate.schedule.warps);
  return builder.getDictionaryAttr(entries);
}

/// The least bytes of staging that are tried before none: each trial that does
/// not fit gives up half.
constexpr int64_t leastStaging = 16 * 1024;

/// Bytes of a product's operands at full depth that are tried where all of them
/// do not fit: with the first, four blocks fit beside each other.
constexpr int64_t productBytes = 48 * 1024;

/// What a trial has made of a kernel.
struct Trial {
  OwningOpRef<func::FuncOp> kernel;
  /// Registers that a thread lacks; infinite where shared memory is too small.
  int64_t lacking = 0;
};

struct NvptxSearchSchedules
    : impl::NvptxSearchSchedulesBase<NvptxSearchSchedules> {
  using NvptxSearchSchedulesBase::NvptxSearchSchedulesBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    FailureOr<Schedule> given = givenSchedule(kernel);
    if (failed(given))
      return signalPassFailure();
    SmallVector<int64_t> counts{given->warps};
    if (given->warps == 0) {
      counts = {chooseWarps(kernel)};
      counts.push_back(12 - counts.front());
    }
    // Devices of one architecture have the limits of its first.
    const Machine *own = llvm::find_if(machines(), [&](const Machine &machine) {
      return (*findArchitecture(machine.architecture))->sharedBytes == limit;
    });
    if (own == machines().end())
      own = machines().begin();
    SmallVector<Candidate, 2> candidates;
    for (int64_t count : counts) {
      Candidate candidate;
      candidate.schedule = *given;
      candidate.schedule.warps = count;
      candidate.kernel = assigned(kernel, candidate.schedule);
      if (!candidate.kernel)
        return signalPassFailure();
      candidate.said = estimateKernel(*candidate.kernel, *own);
      candidates.push_back(std::move(candidate));
    }
    // Sums across warps, or of the rows of a warp, round as these are cut.
    bool scans = scansInLoops(kernel);
    for (Candidate &other : llvm::drop_begin(candidates)) {
      Candidate &best = candidates.front();
      if (scans ? best.said.registers > mostPredictedOfScans &&
                      other.said.registers < best.said.registers
                : other.said.spilled < best.said.spilled)
        std::swap(best, other);
    }
    adopt(kernel, candidates);
  }

  /// What the kernel's own schedule and the pass's option leave open is 0.
  FailureOr<Schedule> givenSchedule(func::FuncOp kernel) {
    llvm::Expected<Schedule> given =
        readSchedule(kernel->getAttrOfType<DictionaryAttr>(scheduleAttr));
    if (!given)
      return kernel.emitError(llvm::toString(given.takeError())), failure();
    // The option is that of all kernels.
    if (warps != 0)
      given->warps = warps;
    if (given->warps < 0 || given->warps > 32 ||
        (given->warps != 0 && !llvm::isPowerOf2_64(given->warps)))
      return kernel.emitError("cannot have ")
                 << given->warps << " warps: a block has 1, 2, 4, 8, 16 or 32",
             failure();
    return *given;
  }

  /// A copy of a kernel with layouts; null where that fails. If it needs more
  /// shared memory than there is, what can be read in parts is.
  OwningOpRef<func::FuncOp> assigned(func::FuncOp kernel, Schedule &schedule) {
    OwningOpRef<func::FuncOp> first;
    Schedule given = schedule;
    for (int64_t most : {std::numeric_limits<int64_t>::max(), productBytes,
                         productBytes / 4}) {
      Schedule now = given;
      OwningOpRef<func::FuncOp> copy = staged(kernel, now, most);
      bool isFit = copy && sharedBytesOf(*copy) <= limit;
      if (!copy || isFit || !first)
        schedule = now;
      if (!copy || isFit)
        return copy;
      if (!first)
        first = std::move(copy);
    }
    return first;
  }

  /// A copy that keeps as much in shared memory as that has room for; the
  /// schedule says then how much.
  OwningOpRef<func::FuncOp> staged(func::FuncOp kernel, Schedule &schedule,
                                   int64_t most) {
    const bool isGiven = schedule.staging.has_value();
    Trial best;
    best.lacking = std::numeric_limits<int64_t>::max();
    for (Schedule tried = schedule;;) {
      FailureOr<Trial> trial = attempt(kernel, tried, most);
      if (failed(trial))
        return nullptr;
      int64_t lacking = trial->lacking;
      if (lacking < best.lacking) {
        best = std::move(*trial);
        schedule.staging = tried.staging;
      }
      if (lacking == 0 || isGiven || tried.staging == 0)
        return std::move(best.kernel);
      int64_t half = tried.staging.value_or(defaultStaging) / 2;
      tried.staging = half < leastStaging ? 0 : half;
    }
  }

  /// Runs the passes of a schedule on the kernel, takes what they made, and
  /// puts the kernel back to what it was.
  FailureOr<Trial> attempt(func::FuncOp kernel, const Schedule &schedule,
                           int64_t most) {
    OwningOpRef<func::FuncOp> before(kernel.clone());
    kernel->setAttr(warpsAttr,
                    Builder(&getContext()).getI64IntegerAttr(schedule.warps));
    ApplyScheduleOptions options;
    options.staging = schedule.staging.value_or(defaultStaging);
    options.productBytes = most;
    options.limit = limit;
    OpPassManager pm(func::FuncOp::getOperationName());
    buildApplySchedule(pm, options);
    LogicalResult result = runPipeline(pm, kernel);
    // Passes are left out where the compilation is cancelled.
    auto lacking = kernel->getAttrOfType<IntegerAttr>(lackingRegistersAttr);
    if (failed(result) || !lacking)
      return failure();
    kernel->removeAttr(lackingRegistersAttr);
    Trial trial;
    trial.lacking = lacking.getInt();
    trial.kernel = OwningOpRef<func::FuncOp>(kernel.cloneWithoutRegions());
    trial.kernel->getBody().takeBody(kernel.getBody());
    kernel.getBody().takeBody(before->getBody());
    kernel->setAttrs((*before)->getAttrDictionary());
    if (sharedBytesOf(*trial.kernel) > limit)
      trial.lacking = std::numeric_limits<int64_t>::max() - 1;
    return trial;
  }

  /// Makes the first candidate the kernel, and notes what was compared.
  void adopt(func::FuncOp kernel, MutableArrayRef<Candidate> candidates) {
    Candidate &best = candidates.front();
    func::FuncOp copy = *best.kernel;
    kernel.getBody().takeBody(copy.getBody());
    kernel->setAttrs(copy->getAttrs());
    Schedule schedule = best.schedule;
    if (!schedule.staging)
      schedule.staging = defaultStaging;
    kernel->setAttr(scheduleAttr, nvptx::toAttribute(schedule, &getContext()));
    SmallVector<Attribute> considered;
    for (const Candidate &candidate : candidates) {
      considered.push_back(toAttribute(candidate, &getContext()));
      const Estimate &it = candidate.said;
      bool chosen = &candidate == &best;
      auto options = remark::RemarkOpts::name(chosen ? "Chosen" : "Considered")
                         .category("schedule")
                         .function(kernel.getName());
      auto remark = chosen ? remark::passed(kernel.getLoc(), options)
                           : remark::analysis(kernel.getLoc(), options);
      remark << remark::metric("kernel", kernel.getName())
             << remark::metric("rows", schedule.rows)
             << remark::metric("warps", candidate.schedule.warps)
             << remark::metric("staging", candidate.schedule.staging.value_or(
                                              defaultStaging))
             << remark::metric("registers", it.registers)
             << remark::metric("spilled", it.spilled)
             << remark::metric("sharedBytes", it.sharedBytes)
             << remark::metric("blocksAtOnce", it.resident)
             << remark::metric("clocks", static_cast<int64_t>(it.clocks))
             << remark::metric("bound", it.bound);
    }
    kernel->setAttr(consideredAttr, ArrayAttr::get(&getContext(), considered));
  }
};

} // namespace
} // namespace drawloom::nvptx
