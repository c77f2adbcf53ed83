//===- Slab.cpp - which place of which file has what ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Slab.h"
#include <algorithm>

namespace drawloom::runtime::offload {

void Slab::addFile(uint64_t bytes) {
  files.emplace_back();
  files.back().extents = bytes / extentBytes;
}

int Slab::choose(unsigned depth, int avoided) const {
  // A file of unknown rate counts as the fastest: it is to be tried.
  double fastest = 0;
  for (const File &file : files)
    fastest = file.rate > fastest ? file.rate : fastest;
  int best = -1;
  double least = 0;
  for (int i = 0; i < static_cast<int>(files.size()); ++i) {
    const File &file = files[i];
    if (i == avoided || file.transfers >= depth || file.free() == 0)
      continue;
    double rate = file.rate > 0 ? file.rate : fastest > 0 ? fastest : 1;
    double end = static_cast<double>(file.backlog + extentBytes) / rate;
    if (best < 0 || end < least) {
      best = i;
      least = end;
    }
  }
  return best;
}

Extent Slab::take(unsigned number) {
  File &file = files[number];
  // What was given back last: a file that is used again and again stays as
  // short as it can be.
  if (file.unused.empty())
    return {number, file.fresh++ * extentBytes};
  uint64_t index = file.unused.back();
  file.unused.pop_back();
  return {number, index * extentBytes};
}

void Slab::giveBack(const Extent &extent) {
  files[extent.file].unused.push_back(extent.offset / extentBytes);
}

void Slab::close(unsigned file) { files[file].closed = true; }

void Slab::bury(unsigned file) { files[file].dead = true; }

void Slab::begin(unsigned number, uint64_t bytes, uint64_t now) {
  File &file = files[number];
  if (file.transfers++ == 0)
    file.since = now;
  file.backlog += bytes;
}

void Slab::end(unsigned number, uint64_t bytes, uint64_t now) {
  File &file = files[number];
  --file.transfers;
  file.backlog -= bytes;
  file.moved += bytes;
  file.busy += now - file.since;
  file.since = now;
  constexpr uint64_t shortest = 20'000'000;
  if (file.busy < shortest)
    return;
  double rate =
      static_cast<double>(file.moved) / static_cast<double>(file.busy);
  file.rate = file.rate == 0 ? rate : 0.7 * file.rate + 0.3 * rate;
  file.busy = file.moved = 0;
}

bool Slab::isBusy(unsigned depth) const {
  return std::all_of(files.begin(), files.end(), [&](const File &file) {
    return file.dead || file.transfers >= depth;
  });
}

uint64_t Slab::free() const {
  uint64_t sum = 0;
  for (const File &file : files)
    sum += file.free();
  return sum;
}

uint64_t Slab::quarantined() const {
  uint64_t sum = 0;
  for (const File &file : files)
    sum += file.dead ? file.extents : file.failed;
  return sum * extentBytes;
}

unsigned Slab::closed() const {
  unsigned count = 0;
  for (const File &file : files)
    count += file.closed;
  return count;
}

unsigned Slab::dead() const {
  unsigned count = 0;
  for (const File &file : files)
    count += file.dead;
  return count;
}

} // namespace drawloom::runtime::offload
