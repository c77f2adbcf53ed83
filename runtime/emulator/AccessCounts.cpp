//===- AccessCounts.cpp - bank conflicts and sectors ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/AccessCounts.h"
#include <algorithm>

namespace drawloom::emulator {

AccessCounts::AccessCounts(size_t sites, int64_t threads)
    : warps(static_cast<size_t>(threads / 32)), counts(sites),
      pending(sites * warps) {}

void AccessCounts::add(uint32_t thread, int32_t site, bool shared,
                       uint64_t address, int32_t bytes) {
  Count &count = counts[static_cast<size_t>(site)];
  count.shared = shared;
  count.bytes = bytes;
  uint32_t lane = thread % 32;
  Pending &mine = pending[static_cast<size_t>(site) * warps + thread / 32];
  uint64_t index = mine.next[lane]++ - mine.first;
  if (index >= mine.groups.size())
    mine.groups.resize(index + 1);
  Group &group = mine.groups[index];
  group.mask |= 1u << lane;
  group.addresses[lane] = address;
  while (!mine.groups.empty() && mine.groups.front().mask == ~0u) {
    close(site, mine.groups.front());
    mine.groups.pop_front();
    ++mine.first;
  }
}

void AccessCounts::close(int32_t site, const Group &group) {
  const Count &count = counts[static_cast<size_t>(site)];
  uint64_t addresses[32];
  unsigned present = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (group.mask & (1u << lane))
      addresses[present++] = group.addresses[lane];
  addWarp(site, count.shared, addresses, present, count.bytes);
}

/// Sorts, drops what is there twice and returns how many are left.
static size_t distinct(std::vector<uint64_t> &values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values.size();
}

void AccessCounts::addWarp(int32_t site, bool shared, const uint64_t *addresses,
                           unsigned size, int32_t bytes) {
  Count &count = counts[static_cast<size_t>(site)];
  count.shared = shared;
  count.bytes = bytes;
  ++count.accesses;
  auto width = static_cast<uint64_t>(bytes);
  std::vector<uint64_t> units;
  if (!shared) {
    // Sectors of 32 bytes.
    std::vector<uint64_t> touched;
    for (unsigned i = 0; i < size; ++i)
      for (uint64_t byte = 0; byte < width; ++byte)
        touched.push_back(addresses[i] + byte);
    int64_t used = static_cast<int64_t>(distinct(touched));
    for (uint64_t byte : touched)
      units.push_back(byte / 32);
    count.actual += static_cast<int64_t>(distinct(units));
    count.ideal += (used + 31) / 32;
    return;
  }
  // 32 banks of 4 bytes. As many lanes at a time as make 128 bytes; those that
  // read the same word share its cycle.
  auto lanesAtOnce = static_cast<unsigned>(
      std::min<uint64_t>(32, std::max<uint64_t>(1, 128 / width)));
  for (unsigned start = 0; start < size; start += lanesAtOnce) {
    units.clear();
    for (unsigned i = start; i < std::min(size, start + lanesAtOnce); ++i)
      for (uint64_t word = addresses[i] / 4;
           word <= (addresses[i] + width - 1) / 4; ++word)
        units.push_back(word);
    size_t words = distinct(units);
    std::array<int64_t, 32> perBank{};
    int64_t cycles = 0;
    for (uint64_t word : units)
      cycles = std::max(cycles, ++perBank[word % 32]);
    count.actual += cycles;
    count.ideal += static_cast<int64_t>((words + 31) / 32);
  }
}

void AccessCounts::flush() {
  for (size_t i = 0; i < pending.size(); ++i) {
    Pending &mine = pending[i];
    for (const Group &group : mine.groups)
      if (group.mask != 0)
        close(static_cast<int32_t>(i / warps), group);
    mine = Pending();
  }
}

void AccessCounts::merge(const AccessCounts &other) {
  for (size_t i = 0; i < counts.size(); ++i) {
    const Count &from = other.counts[i];
    if (from.accesses == 0)
      continue;
    counts[i].shared = from.shared;
    counts[i].bytes = from.bytes;
    counts[i].accesses += from.accesses;
    counts[i].actual += from.actual;
    counts[i].ideal += from.ideal;
  }
}

void AccessCounts::write(const std::vector<std::string> &sites,
                         Report &report) const {
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i].accesses > 0)
      report.sites.push_back({sites[i], counts[i].shared, counts[i].bytes,
                              counts[i].accesses, counts[i].actual,
                              counts[i].ideal});
}

} // namespace drawloom::emulator
