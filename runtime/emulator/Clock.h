//===- Clock.h - what a thread knows of the others --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Happens-before by vector clocks. A thread counts how many times it has
// released its actions to others (its epoch); its clock holds, for every thread
// of the block, the last epoch released to it. Clocks are immutable, so that
// the threads that leave a barrier share one.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_CLOCK_H
#define DRAWLOOM_RUNTIME_EMULATOR_CLOCK_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace drawloom::emulator {

struct Clock;
using ClockPtr = std::shared_ptr<const Clock>;

struct Clock {
  int64_t block = 0;
  /// Epochs by thread of `block`.
  std::vector<uint32_t> epochs;
  /// Clocks of other blocks, by block number; these contain no further blocks.
  std::map<int64_t, ClockPtr> others;

  bool knows(int64_t otherBlock, uint32_t thread, uint32_t epoch) const;
  /// Adds everything that `other` knows.
  void join(const Clock &other);
};

/// The points at which threads synchronize through atomic operations on one
/// address. Thread-safe.
class SyncVariables {
public:
  /// Returns what operations on the address have released so far; null if
  /// nothing.
  ClockPtr read(uintptr_t address);
  void release(uintptr_t address, const ClockPtr &clock);

private:
  struct Shard {
    std::mutex mutex;
    std::map<uintptr_t, ClockPtr> released;
  };
  Shard &shard(uintptr_t address) { return shards[(address >> 2) % 16]; }
  std::array<Shard, 16> shards;
};

/// Returns the join of two clocks, of which either may be null.
ClockPtr joined(const ClockPtr &a, const ClockPtr &b);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_CLOCK_H
