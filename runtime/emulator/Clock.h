//===- Clock.h - what a thread knows of the others --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Happens-before by vector clocks. A thread counts the times that it told
// others what it had done (its epoch); its clock holds, for every thread of the
// block, the last epoch that it was told of. Clocks do not change once made, so
// that the threads that leave a barrier share one.
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
  /// By thread of `block`.
  std::vector<uint32_t> epochs;
  /// What is known of other blocks, by number; these have no others in turn.
  std::map<int64_t, ClockPtr> others;

  bool knows(int64_t otherBlock, uint32_t thread, uint32_t epoch) const;
  /// Everything that `other` knows.
  void join(const Clock &other);
};

/// Where threads meet through atomic operations on one address. Safe to use
/// from several threads.
class SyncVariables {
public:
  /// What operations on the address have released so far, null where none.
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

/// The two together; either may be null.
ClockPtr joined(const ClockPtr &a, const ClockPtr &b);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_CLOCK_H
