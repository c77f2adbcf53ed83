//===- Launch.h - running a grid of emulated GPU threads --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_LAUNCH_H
#define DRAWLOOM_RUNTIME_EMULATOR_LAUNCH_H

#include "runtime/emulator/Element.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace drawloom::emulator {

/// Number of blocks along each dimension.
struct Grid {
  int64_t x = 1, y = 1, z = 1;
};

/// The memory that a kernel may access, as ranges of bytes. Must not be changed
/// while a launch runs.
class GlobalMemory {
public:
  /// Adds a range; it replaces any range that it overlaps.
  void add(const void *start, int64_t bytes);
  /// Removes the range that starts here; returns false if there is none.
  bool remove(const void *start);

  struct Range {
    uintptr_t start = 0, end = 0;
    bool contains(uintptr_t first, int64_t bytes) const {
      return first >= start && first <= end &&
             static_cast<uint64_t>(bytes) <= end - first;
    }
  };
  /// Returns the range that contains the address; an empty range if there is
  /// none.
  Range find(uintptr_t address) const;
  /// Returns the last range that starts at or before the address, and the next
  /// one.
  Range before(uintptr_t address) const;
  Range after(uintptr_t address) const;

private:
  /// Ends of the ranges, by start.
  std::map<uintptr_t, uintptr_t> ranges;
};

struct LaunchOptions {
  /// 0: threads take turns in the order of their numbers. Otherwise, the next
  /// thread is drawn from a generator with this seed.
  uint64_t seed = 0;
  /// Threads of this process that share the blocks.
  unsigned threads = 1;
  /// Whether to report unordered accesses, and reads of shared memory that was
  /// never written.
  bool checkRaces = true;
  /// Whether to count bank conflicts and sectors in Report::sites.
  bool countAccesses = false;
  /// Max number of blocks to run, spread evenly over the grid; 0: all. For
  /// counting only, since not all results are written.
  int64_t mostBlocks = 0;
  /// Legal global memory; if null, everything except the first page.
  const GlobalMemory *memory = nullptr;
  /// If not negative, memory that is at least this many bytes away from every
  /// range of `memory` is legal as well, since the caller may not know of it.
  int64_t memoryBeyond = -1;
  /// Max accesses of one thread before it counts as an endless loop; 0: no
  /// limit.
  uint64_t mostAccesses = uint64_t(1) << 32;
};

/// The accesses of one place in a kernel, summed over the grid.
struct SiteCount {
  std::string where;
  bool shared = false;
  int64_t bytesPerThread = 0;
  /// Number of times that a warp executed it.
  int64_t accesses = 0;
  /// Cycles of the shared memory's banks, or 32-byte sectors of global memory:
  /// actual, and the minimum for the same bytes.
  int64_t actual = 0, ideal = 0;
};

struct Report {
  int64_t blocks = 0;
  /// Number of times that a thread had to wait for another one.
  int64_t switches = 0;
  std::vector<SiteCount> sites;
};

/// Machine code of a kernel, which calls the functions of Symbols.h.
struct KernelCode {
  std::string name;
  /// Runs one thread. `parameters[i]` points to the value of parameter i.
  void (*entry)(void *thread, const void *const *parameters) = nullptr;
  /// Threads per block; a multiple of 32.
  int64_t threads = 32;
  /// Source locations, by site number.
  const std::vector<std::string> *sites = nullptr;
  /// Descriptions of accesses, by number.
  const std::vector<Element> *elements = nullptr;
  /// The module's own constants, which are legal in addition to
  /// LaunchOptions::memory.
  std::vector<GlobalMemory::Range> constants;
};

/// Max bytes of shared memory per block.
inline constexpr int64_t mostSharedBytes = int64_t(227) << 10;

/// Runs the grid to its end or to the first fault. Returns what is wrong with
/// the kernel; empty if nothing is.
std::string launchKernel(const KernelCode &kernel, Grid grid,
                         const void *const *parameters, int64_t sharedBytes,
                         const LaunchOptions &options, Report &report);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_LAUNCH_H
