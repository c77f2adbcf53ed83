//===- ExplainPlan.cpp - a plan for people and for programs ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/SourcePlace.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Memory/PlannedFunction.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace drawloom {

static StringRef nameOf(GapChoice choice) {
  switch (choice) {
  case GapChoice::Keep:
    return "keep";
  case GapChoice::Again:
    return "again";
  case GapChoice::Store:
    return "store";
  }
  llvm_unreachable("all choices are listed");
}

static std::string mebibytes(int64_t bytes) {
  return llvm::formatv("{0:F2} MiB", static_cast<double>(bytes) / 1048576.0);
}

static std::string milliseconds(double seconds) {
  return llvm::formatv("{0:F3} ms", 1000 * seconds);
}

std::string explainPlan(const PlannedFunction &planned) {
  const MemoryPlan &plan = planned.plan;
  func::FuncOp function = planned.function;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "@" << function.getSymName() << ": workspace "
         << mebibytes(plan.bytesBefore) << " -> " << mebibytes(plan.bytes);
  if (planned.budget > 0)
    stream << " (may have " << mebibytes(planned.budget) << ")";
  stream << ", time " << milliseconds(plan.secondsBefore) << " -> "
         << milliseconds(plan.seconds) << " (" << milliseconds(plan.stall)
         << " of it waiting), to the store " << mebibytes(plan.stored)
         << ", estimated\n";
  bool isHead = true;
  for (auto [gap, choice] : llvm::zip_equal(planned.model.gaps, plan.choices)) {
    if (choice == GapChoice::Keep)
      continue;
    if (std::exchange(isHead, false))
      stream << llvm::formatv("  {0,-6} {1,12} {2,-13} {3,-24} {4}\n", "choice",
                              "bytes", "steps", "made at", "type");
    Value value = planned.buffers.values()[gap.value].value;
    std::string type;
    llvm::raw_string_ostream(type) << value.getType();
    stream << llvm::formatv("  {0,-6} {1,12} {2,-13} {3,-24} {4}\n",
                            nameOf(choice), gap.bytes,
                            llvm::formatv("{0}..{1}", gap.from, gap.to).str(),
                            placeOf(value.getLoc()), type);
  }
  return text;
}

std::string describePlan(const PlannedFunction &planned) {
  const MemoryPlan &plan = planned.plan;
  llvm::json::Array seconds, buffers, runs, gaps;
  for (double time : planned.model.seconds)
    seconds.push_back(time);
  for (const MemoryRun &run : planned.model.runs)
    runs.push_back(llvm::json::Array{run.step, run.seconds, run.bytes});
  for (const Lifetime &buffer : planned.model.buffers)
    buffers.push_back(
        llvm::json::Array{buffer.bytes, buffer.first, buffer.last});
  for (auto [gap, choice] : llvm::zip_equal(planned.model.gaps, plan.choices)) {
    llvm::json::Object object{
        {"value", gap.value},
        {"buffer", gap.buffer},
        {"bytes", gap.bytes},
        {"from", gap.from},
        {"to", gap.to},
        {"choice", nameOf(choice)},
        {"runs", llvm::json::Array(gap.runs)},
        {"needs", llvm::json::Array(gap.needs)},
        {"place", placeOf(planned.buffers.values()[gap.value].value.getLoc())}};
    gaps.push_back(std::move(object));
  }
  llvm::json::Object object{
      {"function", func::FuncOp(planned.function).getSymName()},
      {"budget", planned.budget},
      {"bytes_before", plan.bytesBefore},
      {"bytes", plan.bytes},
      {"binding_step", plan.bindingStep},
      {"seconds_before", plan.secondsBefore},
      {"seconds", plan.seconds},
      {"stall", plan.stall},
      {"stored", plan.stored},
      {"fits", plan.fits},
      {"steps", std::move(seconds)},
      {"buffers", std::move(buffers)},
      {"runs", std::move(runs)},
      {"gaps", std::move(gaps)}};
  return llvm::formatv("{0}\n", llvm::json::Value(std::move(object)));
}

} // namespace drawloom
