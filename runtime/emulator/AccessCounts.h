//===- AccessCounts.h - bank conflicts and sectors --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_ACCESSCOUNTS_H
#define DRAWLOOM_RUNTIME_EMULATOR_ACCESSCOUNTS_H

#include "runtime/emulator/Launch.h"
#include <array>
#include <deque>

namespace drawloom::emulator {

/// Reassembles warp accesses from those of lanes: the n-th time that each lane
/// reaches a place counts as one instruction of the warp.
class AccessCounts {
public:
  AccessCounts(size_t sites, int64_t threads);

  /// For shared memory, `address` is relative to the start of the arena.
  void add(uint32_t thread, int32_t site, bool shared, uint64_t address,
           int32_t bytes);
  /// Adds an instruction that states all its addresses at once.
  void addWarp(int32_t site, bool shared, const uint64_t *addresses,
               unsigned count, int32_t bytes);
  /// Counts accesses that not all lanes have reached; to be called after each
  /// block.
  void flush();
  /// Adds the counts of another object for the same kernel.
  void merge(const AccessCounts &other);
  void write(const std::vector<std::string> &sites, Report &report) const;

private:
  struct Group {
    uint32_t mask = 0;
    std::array<uint64_t, 32> addresses;
  };
  struct Pending {
    std::deque<Group> groups;
    /// Index of the first group, and of each lane's next access.
    uint64_t first = 0;
    std::array<uint64_t, 32> next{};
  };
  struct Count {
    bool shared = false;
    int32_t bytes = 0;
    int64_t accesses = 0, actual = 0, ideal = 0;
  };
  void close(int32_t site, const Group &group);

  size_t warps;
  std::vector<Count> counts;
  /// Accesses that not all lanes have reached, by site and warp.
  std::vector<Pending> pending;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_ACCESSCOUNTS_H
