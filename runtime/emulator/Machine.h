//===- Machine.h - the state of an emulated block ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_MACHINE_H
#define DRAWLOOM_RUNTIME_EMULATOR_MACHINE_H

#include "runtime/emulator/Clock.h"
#include "runtime/emulator/Fiber.h"
#include "runtime/emulator/Findings.h"
#include "runtime/emulator/Launch.h"
#include "runtime/emulator/Shadow.h"
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace drawloom::emulator {

inline constexpr unsigned lanes = 32;
inline constexpr unsigned mostThreads = 1024;
/// The low 18 bits of a shared pointer are its offset, which matrix descriptors
/// contain.
inline constexpr uint64_t arenaBytes = uint64_t(1) << 18;

struct Block;
struct Thread;
class AccessCounts;

/// A copy to shared memory that has not been performed yet.
struct PendingCopy {
  char *destination;
  const char *source;
  int32_t bytes, sourceBytes, site;
};

/// What a thread is waiting for, for reports.
struct Wait {
  const char *what = nullptr;
  int32_t site = 0;
  /// Lanes of the warp; 0 for barriers of the block.
  uint32_t mask = 0;
  int32_t barrier = -1;
};

struct Thread {
  Fiber fiber;
  Block *block = nullptr;
  uint32_t index = 0;
  bool done = false;
  Wait wait;
  /// What the thread knows of others through barriers and similar operations,
  /// and how many times it has released its own actions.
  ClockPtr clock;
  uint32_t epoch = 1;
  uint64_t accesses = 0;
  /// What a fence made visible to subsequent atomic operations; and what such
  /// operations saw, which the next fence makes visible to this thread.
  ClockPtr fenced;
  std::vector<uintptr_t> seen;
  /// Copies issued, and the number of copies up to the end of each committed
  /// group.
  std::vector<PendingCopy> copies;
  std::vector<size_t> groups;
  GlobalMemory::Range lastRange;
  /// The described elements of the next matrices; none if the root is null.
  struct {
    const char *root = nullptr;
    int32_t element = 0;
  } matrix;

  uint32_t lane() const { return index % lanes; }
  uint32_t warp() const { return index / lanes; }
  Actor actor() const;
};

/// A warp instruction that some of its lanes have reached.
struct Collective {
  using Compute = void (*)(Collective &);
  const char *what = nullptr;
  /// Distinguishes instructions that must not be combined: the operation with
  /// its qualifiers.
  uint64_t key = 0;
  int32_t site = 0;
  bool aligned = false;
  uint32_t mask = 0, arrived = 0;
  Compute compute = nullptr;
  Block *block = nullptr;
  uint32_t warp = 0;
  /// The operands and results of each lane that has arrived.
  std::array<void *, lanes> operands;

  Thread &thread(uint32_t lane);
};

struct Arrival {
  uint32_t thread;
  int32_t site;
  bool waits;
  uint32_t predicate;
  uint32_t epoch;
  ClockPtr clock;
};

/// One of the sixteen barriers of a block.
struct Barrier {
  std::vector<Arrival> arrivals;
  /// A bit for each thread that has arrived.
  std::array<uint64_t, mostThreads / 64> present{};
  /// Number of threads that it waits for; 0: all that have not exited.
  int32_t count = 0;
  int32_t reduction = -1;
  uint32_t result = 0;
};

/// State shared by the blocks of a launch.
struct Launch {
  const KernelCode *kernel;
  Grid grid;
  const void *const *parameters;
  int64_t sharedBytes;
  const LaunchOptions *options;
  Findings findings;
  std::atomic<int64_t> next{0}, switches{0}, blocks{0};
  std::atomic<bool> stopped{false};
  std::unique_ptr<GlobalShadow> global;
  std::unique_ptr<SyncVariables> variables;
  std::unique_ptr<AccessCounts> counts;
  std::mutex countsMutex;

  const std::string &where(int32_t site) const {
    return (*kernel->sites)[static_cast<size_t>(site)];
  }
};

/// Runs one block at a time, on the thread of this process that created it.
struct Block {
  explicit Block(Launch &launch);
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  /// Returns false if the memory is unavailable.
  bool allocate();
  void run(int64_t number);

  // The functions below are called on a thread's fiber.

  /// Suspends the thread until it is woken.
  void waitFor(Thread &thread, Wait wait);
  /// Lets the other threads run first.
  void yield(Thread &thread);
  void wake(Thread &thread);
  /// Reports a defect. The block continues.
  void report(FindingKind kind, const Thread &thread, int32_t site,
              int32_t otherSite, const std::string &text);
  /// Reports a defect and leaves the block for good: nothing on the thread's
  /// stack is destroyed, so nothing there except the text may own memory.
  [[noreturn]] void fail(FindingKind kind, const Thread &thread, int32_t site,
                         std::string text);

  void meet(Thread &thread, const char *what, uint64_t key, int32_t site,
            bool aligned, uint32_t mask, Collective::Compute compute,
            void *operands);
  uint32_t barrier(Thread &thread, int32_t id, int32_t count, bool waits,
                   int32_t reduction, uint32_t predicate, int32_t site);

  /// Returns text such as "thread 5 (lane 5 of warp 0)".
  std::string nameOf(uint32_t thread) const;
  std::string name() const;
  bool isShared(const void *address) const {
    auto value = reinterpret_cast<uintptr_t>(address);
    auto base = reinterpret_cast<uintptr_t>(arena);
    return value >= base && value < base + arenaBytes;
  }
  bool onStack(const Thread &thread, const char *address) const {
    const char *end = stacks.end(thread.index);
    return address < end && address >= end - Stacks::bytes;
  }
  uint64_t offset(const void *address) const {
    return reinterpret_cast<uintptr_t>(address) -
           reinterpret_cast<uintptr_t>(arena);
  }

  Launch &launch;
  int64_t number = 0;
  std::array<uint32_t, 3> index{};
  char *arena = nullptr;
  std::vector<Thread> threads;
  std::array<std::vector<Collective>, mostThreads / lanes> collectives;
  /// The lanes of each warp that have exited.
  std::array<uint32_t, mostThreads / lanes> gone{};
  std::array<Barrier, 16> barriers;
  SharedShadow shadow;
  ClockPtr initialClock;
  std::unique_ptr<AccessCounts> counts;
  bool checksRaces = false;

private:
  static void runThread(void *argument);
  void exit(Thread &thread);
  uint32_t choose(uint32_t after);
  void switchAway(Thread &thread, bool forEver);
  void finish(Barrier &barrier, int32_t id);
  void complete(uint32_t warp, size_t position);
  std::string describeDeadlock() const;

  Stacks stacks;
  Fiber main;
  std::array<uint64_t, mostThreads / 64> ready{};
  uint32_t live = 0;
  uint64_t random = 0;
  int64_t switches = 0;
  bool aborted = false;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_MACHINE_H
