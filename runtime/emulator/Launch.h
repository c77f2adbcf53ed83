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

/// Blocks along each dimension.
struct Grid {
  int64_t x = 1, y = 1, z = 1;
};

/// The memory that a kernel may touch, as ranges of bytes. Not to be changed
/// while a launch runs.
class GlobalMemory {
public:
  /// A range that overlaps a known one replaces it.
  void add(const void *start, int64_t bytes);
  /// Forgets the range that starts here; false where there is none.
  bool remove(const void *start);

  struct Range {
    uintptr_t start = 0, end = 0;
    bool contains(uintptr_t first, int64_t bytes) const {
      return first >= start && first <= end &&
             static_cast<uint64_t>(bytes) <= end - first;
    }
  };
  /// The range that holds the address; an empty one where none does.
  Range find(uintptr_t address) const;
  /// The greatest range that starts at or before the address, and the next one.
  Range before(uintptr_t address) const;
  Range after(uintptr_t address) const;

private:
  /// By start.
  std::map<uintptr_t, uintptr_t> ranges;
};

struct LaunchOptions {
  /// 0: threads take turns in the order of their numbers. Else who goes on is
  /// drawn from a generator with this seed.
  uint64_t seed = 0;
  /// Threads of this process that share the blocks.
  unsigned threads = 1;
  /// Reports unordered accesses and reads of shared memory never written.
  bool checkRaces = true;
  /// Counts bank conflicts and sectors in Report::sites.
  bool countAccesses = false;
  /// Runs no more than so many blocks, spread evenly over the grid: for counts,
  /// since results are not all written then. 0: all.
  int64_t mostBlocks = 0;
  /// What global memory is legal; everything but the first page where null.
  const GlobalMemory *memory = nullptr;
  /// Where this is not below 0, memory that is this many bytes away from every
  /// range of `memory` is legal too: the caller does not know it.
  int64_t memoryBeyond = -1;
  /// Accesses that one thread may make before it counts as running for ever; 0:
  /// any number.
  uint64_t mostAccesses = uint64_t(1) << 32;
};

/// What one place in a kernel did, summed over the grid.
struct SiteCount {
  std::string where;
  bool shared = false;
  int64_t bytesPerThread = 0;
  /// Times that a warp did it.
  int64_t accesses = 0;
  /// Cycles of the shared memory's banks, or 32-byte sectors of global memory,
  /// and how few would do for the same bytes.
  int64_t actual = 0, ideal = 0;
};

struct Report {
  int64_t blocks = 0;
  /// Times that a thread had to wait for another one.
  int64_t switches = 0;
  std::vector<SiteCount> sites;
};

/// Machine code of a kernel. Its functions call those of Symbols.h.
struct KernelCode {
  std::string name;
  /// Runs one thread. `parameters[i]` points to the value of parameter i.
  void (*entry)(void *thread, const void *const *parameters) = nullptr;
  /// Of a block; a multiple of 32.
  int64_t threads = 32;
  /// What stands where in the source, by site number.
  const std::vector<std::string> *sites = nullptr;
  /// What accesses are meant to be, by number.
  const std::vector<Element> *elements = nullptr;
  /// The module's own constants, legal beside LaunchOptions::memory.
  std::vector<GlobalMemory::Range> constants;
};

/// Bytes of shared memory that a block may have.
inline constexpr int64_t mostSharedBytes = int64_t(227) << 10;

/// Runs the grid to its end or to the first fault. Returns what is wrong with
/// the kernel, empty where nothing is.
std::string launchKernel(const KernelCode &kernel, Grid grid,
                         const void *const *parameters, int64_t sharedBytes,
                         const LaunchOptions &options, Report &report);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_LAUNCH_H
