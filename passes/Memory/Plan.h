//===- Plan.h - what stays in memory, and what leaves it --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps 0 .. T-1 take some time each. A gap is the time between two uses of a
// value, in which its memory can be used for others: the value is recomputed at
// the end of the gap, or is in a store meanwhile. The problem: for each gap,
// choose whether to keep the value, recompute it or store it, so that no step
// exceeds the available memory and the total time is minimal. (As an integer
// program, the problem is NP-hard.)
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_PLAN_H
#define DRAWLOOM_PASSES_MEMORY_PLAN_H

#include "passes/Memory/Arena.h"
#include <optional>
#include <string>
#include <vector>

namespace drawloom {

/// The rates of a machine; bytes and operations per second.
struct MemoryRates {
  /// Rates of arithmetic, and of memory.
  double operations = 1e11, memory = 1e10;
  /// Rates of a store's disks, and of the copy into or out of its memory.
  double write = 1e9, read = 1e9, copy = 4e9;
  /// Bytes of the store's own memory.
  int64_t staging = int64_t(16) << 20;
};

/// An op that is run again in front of a step, for all of its values that are
/// needed there.
struct MemoryRun {
  int64_t step;
  double seconds;
  /// Bytes of results that only other runs in front of the same step read.
  int64_t bytes;
};

struct MemoryGap {
  /// The value, in the caller's numbering, and its buffer.
  int64_t value, buffer, bytes;
  /// The uses before and after the gap: the memory is free in between.
  int64_t from, to;
  /// Numbers of the runs that recompute the value, in order; empty if that is
  /// impossible.
  std::vector<int64_t> runs;
  /// Values that must be in memory at `to` for the recomputation.
  std::vector<int64_t> needs;
};

struct MemoryModel {
  /// Seconds of each step.
  std::vector<double> seconds;
  std::vector<Lifetime> buffers;
  std::vector<MemoryRun> runs;
  /// Grouped by value, and in order.
  std::vector<MemoryGap> gaps;
};

enum class GapChoice { Keep, Again, Store };

struct MemoryPlan {
  /// One per gap.
  std::vector<GapChoice> choices;
  /// Bytes that the buffers take together, without the plan and with it.
  int64_t bytesBefore = 0, bytes = 0;
  /// The step at which this plan needs the most memory.
  int64_t bindingStep = 0;
  double secondsBefore = 0, seconds = 0;
  /// Of these seconds, those spent waiting for the store; and bytes that go to
  /// the store.
  double stall = 0;
  int64_t stored = 0;
  bool fits = true;
};

/// Searches for the fastest plan within `budget` bytes. If there is none,
/// returns the plan with the fewest bytes, which does not fit.
MemoryPlan planMemory(const MemoryModel &model, int64_t budget,
                      const MemoryRates &rates, bool stores);

/// The time of a program with these choices, and its stall.
struct PlanTime {
  double seconds = 0, stall = 0;
};
PlanTime simulate(const MemoryModel &model,
                  const std::vector<GapChoice> &choices,
                  const MemoryRates &rates);

/// Returns the buffers split at their gaps, plus those of runs.
std::vector<Lifetime> cutBuffers(const MemoryModel &model,
                                 const std::vector<GapChoice> &choices);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_PLAN_H
