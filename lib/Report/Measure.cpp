//===- Measure.cpp - follows compilations and measures calls --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/SourcePlace.h"
#include "lib/Report/Report.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace drawloom::report {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// Recorder
//===----------------------------------------------------------------------===//

namespace {
class Collector final : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Collector(Recorder &recorder) : recorder(recorder) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    Remark made;
    made.kind = kindOf(remark.getRemarkType()).str();
    made.category = remark.getCombinedCategoryName().str();
    made.name = remark.getRemarkName().str();
    made.place = placeOf(remark.getLocation());
    for (const auto &argument : remark.getArgs()) {
      if (argument.key == "Remark" || argument.key == "Reason")
        made.message += (made.message.empty() ? "" : " ") + argument.val;
      else
        made.values.emplace_back(argument.key, argument.val);
    }
    recorder.add(std::move(made));
  }

private:
  static StringRef kindOf(remarks::Type type) {
    switch (type) {
    case remarks::Type::Passed:
      return "passed";
    case remarks::Type::Missed:
      return "missed";
    case remarks::Type::Failure:
      return "failed";
    default:
      return "analysis";
    }
  }

  Recorder &recorder;
};
} // namespace

bool Recorder::collectRemarks(mlir::MLIRContext &context, StringRef filter,
                              bool print) {
  mlir::remark::RemarkCategories categories;
  std::string all = filter.empty() ? ".*" : filter.str();
  categories.passed = categories.missed = categories.failed = all;
  // `all` alone enables nothing: it only widens filters that are set.
  if (!filter.empty())
    categories.all = categories.analysis = all;
  return succeeded(mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<Collector>(*this),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
      print));
}

void Recorder::add(Remark remark) {
  std::lock_guard<std::mutex> lock(mutex);
  if (muted)
    return;
  auto known = find_if(said, [&](const Remark &other) {
    return std::tie(other.kind, other.category, other.name, other.place,
                    other.message, other.values) ==
           std::tie(remark.kind, remark.category, remark.name, remark.place,
                    remark.message, remark.values);
  });
  if (known == said.end())
    said.push_back(std::move(remark));
  else
    known->count += remark.count;
}

void Recorder::end() {
  if (!current.empty())
    times.push_back({current, secondsSince(since)});
  current.clear();
}

void Recorder::follow(CompileOptions &options) {
  options.entering = [this, before = options.entering, target = options.target](
                         Phase phase, mlir::ModuleOp module, StringRef isa) {
    if (before)
      before(phase, module, isa);
    end();
    if (phase == Phase::Llvm)
      work = measureKernels(module);
    current = target->phaseName(phase).str();
    since = Clock::now();
  };
  options.restarting = [this, before = options.restarting] {
    if (before)
      before();
    end();
    double seconds = 0;
    for (const auto &[phase, time] : times)
      seconds += time;
    clear();
    times.push_back({"with blocks that did not fit", seconds});
  };
  options.trying = [this, before = options.trying](bool begins) {
    if (before)
      before(begins);
    end();
    current = begins ? "choosing tiles" : "";
    since = Clock::now();
    std::lock_guard<std::mutex> lock(mutex);
    muted = begins;
  };
  options.emitting = [this, before = options.emitting] {
    if (before)
      before();
    end();
    current = "machine code";
    since = Clock::now();
  };
}

void Recorder::finish() { end(); }

void Recorder::clear() {
  times.clear();
  work.clear();
  said.clear();
  current.clear();
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

std::optional<double> Kernel::intensity() const {
  if (!operations || !bytes || *operations <= 0 || *bytes <= 0)
    return std::nullopt;
  return *operations / *bytes;
}

bool Kernel::boundByOperations(const Roofs &roofs) const {
  return operations.value_or(0) / roofs.operationsPerSecond >
         bytes.value_or(0) / roofs.bytesPerSecond;
}

std::optional<double> Kernel::roofSeconds(const Roofs &roofs) const {
  if (!operations && !bytes)
    return std::nullopt;
  return std::max(operations.value_or(0) / roofs.operationsPerSecond,
                  bytes.value_or(0) / roofs.bytesPerSecond);
}

double Report::compileSeconds() const {
  double sum = 0;
  for (const PhaseTime &phase : phases)
    sum += phase.seconds;
  return sum;
}

Expected<Report> measure(const Signature &signature, StringRef target,
                         StringRef isa, const Recorder &recorder,
                         unsigned calls, unsigned threads,
                         function_ref<Error(KernelProfile *)> run) {
  Report report;
  report.title = "@" + signature.name;
  report.function = signature.name;
  report.target = target.str();
  report.isa = isa.str();
  report.processor = sys::getHostCPUName().str();
  report.threads = std::max(threads, 1u);
  report.calls = std::max(calls, 1u);
  report.phases = recorder.phases();
  report.remarks = recorder.remarks();
  for (const auto *types : {&signature.arguments, &signature.results})
    for (const ValueType &type : *types)
      report.bytes += static_cast<double>(type.bytes());

  if (Error error = run(nullptr))
    return error;
  KernelProfile profile;
  Clock::time_point start = Clock::now();
  for (unsigned i = 0; i < report.calls; ++i)
    if (Error error = run(&profile))
      return error;
  report.seconds = secondsSince(start) / report.calls;
  if (target == "cpu")
    report.roofs = measureRoofs(report.threads, isa);

  report.outside = report.seconds;
  for (const KernelProfile::Kernel &timed : profile.kernels) {
    Kernel &kernel = report.kernels.emplace_back();
    kernel.name = timed.name;
    kernel.calls = static_cast<double>(timed.calls) / report.calls;
    kernel.blocks = static_cast<double>(timed.blocks) / report.calls;
    kernel.seconds = timed.seconds / report.calls;
    kernel.share = kernel.seconds / report.seconds;
    report.outside -= kernel.seconds;
    auto known = find_if(recorder.kernels(), [&](const KernelWork &work) {
      return work.name == timed.name;
    });
    if (known == recorder.kernels().end())
      continue;
    kernel.place = known->place;
    kernel.bytes = known->bytes * kernel.calls;
    if (known->operationsPerBlock)
      kernel.operations = *known->operationsPerBlock * kernel.blocks;
  }
  return report;
}

Report join(StringRef title,
            ArrayRef<std::pair<const Report *, unsigned>> parts) {
  const Report &first = *parts.front().first;
  Report joined;
  joined.title = joined.function = title.str();
  joined.target = first.target;
  joined.isa = first.isa;
  joined.processor = first.processor;
  joined.threads = first.threads;
  joined.calls = first.calls;
  Recorder recorder; // Counts what several functions have in common.
  for (auto [part, times] : parts) {
    joined.seconds += part->seconds * times;
    joined.outside += part->outside * times;
    joined.bytes += part->bytes * times;
    // What disturbed one measurement did not disturb all.
    if (part->roofs && !joined.roofs)
      joined.roofs = part->roofs;
    if (part->roofs) {
      Roofs &most = *joined.roofs;
      most.operationsPerSecond =
          std::max(most.operationsPerSecond, part->roofs->operationsPerSecond);
      most.bytesPerSecond =
          std::max(most.bytesPerSecond, part->roofs->bytesPerSecond);
    }
    for (Kernel kernel : part->kernels) {
      kernel.calls *= times;
      kernel.blocks *= times;
      kernel.seconds *= times;
      for (std::optional<double> *value : {&kernel.operations, &kernel.bytes})
        if (*value)
          **value *= times;
      joined.kernels.push_back(std::move(kernel));
    }
    for (const PhaseTime &phase : part->phases) {
      auto known = find_if(joined.phases, [&](const PhaseTime &other) {
        return other.name == phase.name;
      });
      if (known == joined.phases.end())
        joined.phases.push_back(phase);
      else
        known->seconds += phase.seconds;
    }
    for (const Remark &remark : part->remarks)
      recorder.add(remark);
  }
  joined.remarks = recorder.remarks();
  for (Kernel &kernel : joined.kernels)
    kernel.share = kernel.seconds / joined.seconds;
  return joined;
}

} // namespace drawloom::report
