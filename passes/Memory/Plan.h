//===- Plan.h - what stays in memory, and what leaves it --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps 0 .. T-1 take some time each. A gap is the time between two uses of a
// value, in which its memory can be used for others: the value is computed
// again at its end, or it is in a store meanwhile. For each gap: keep the
// value, compute it again, or store it, so that no step needs more memory than
// there is and the whole takes the least time? (As a program with integers, the
// problem is NP-hard.)
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_PLAN_H
#define DRAWLOOM_PASSES_MEMORY_PLAN_H

#include "passes/Memory/Arena.h"
#include <optional>
#include <string>
#include <vector>

namespace drawloom {

/// What machines are like; bytes and operations in a second.
struct MemoryRates {
  /// Of arithmetic, and of memory.
  double operations = 1e11, memory = 1e10;
  /// Of a store's disks, and of the copy into or out of its memory.
  double write = 1e9, read = 1e9, copy = 4e9;
  /// Bytes of memory that the store has.
  int64_t staging = int64_t(16) << 20;
};

/// An op that is run once more in front of a step, for all values that it gives
/// there.
struct MemoryRun {
  int64_t step;
  double seconds;
  /// Of results that only other runs in front of the same step read.
  int64_t bytes;
};

struct MemoryGap {
  /// The value, in the caller's count, and its buffer.
  int64_t value, buffer, bytes;
  /// Uses on both sides of it: the memory is free in between.
  int64_t from, to;
  /// What computes the value again, by number, the op that gives it first;
  /// empty where that is not possible.
  std::vector<int64_t> runs;
  /// Values that have to be in memory at `to` for that.
  std::vector<int64_t> needs;
};

struct MemoryModel {
  /// Of each step.
  std::vector<double> seconds;
  std::vector<Lifetime> buffers;
  std::vector<MemoryRun> runs;
  /// Of one value, in their order.
  std::vector<MemoryGap> gaps;
};

enum class GapChoice { Keep, Again, Store };

struct MemoryPlan {
  /// Of each gap.
  std::vector<GapChoice> choices;
  /// Bytes that the buffers take together, without a plan and with it.
  int64_t bytesBefore = 0, bytes = 0;
  /// The step at which this plan needs most.
  int64_t bindingStep = 0;
  double secondsBefore = 0, seconds = 0;
  /// Of these, what the program waits for the store; and bytes that go there.
  double stall = 0;
  int64_t stored = 0;
  bool fits = true;
};

/// Looks for the fastest plan within `budget` bytes. Where there is none, the
/// plan with the fewest bytes, which does not fit.
MemoryPlan planMemory(const MemoryModel &model, int64_t budget,
                      const MemoryRates &rates, bool stores);

/// The time that a program with these choices takes, and its stall.
struct PlanTime {
  double seconds = 0, stall = 0;
};
PlanTime simulate(const MemoryModel &model,
                  const std::vector<GapChoice> &choices,
                  const MemoryRates &rates);

/// The buffers with their gaps cut out, and those of runs.
std::vector<Lifetime> cutBuffers(const MemoryModel &model,
                                 const std::vector<GapChoice> &choices);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_PLAN_H
