//===- Clock.cpp - what a thread knows of the others ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Clock.h"
#include <algorithm>

namespace drawloom::emulator {

bool Clock::knows(int64_t otherBlock, uint32_t thread, uint32_t epoch) const {
  if (otherBlock == block)
    return epoch <= epochs[thread];
  auto found = others.find(otherBlock);
  return found != others.end() && epoch <= found->second->epochs[thread];
}

static void joinEpochs(std::vector<uint32_t> &into,
                       const std::vector<uint32_t> &from) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void Clock::join(const Clock &other) {
  auto add = [&](int64_t number, const ClockPtr &clock) {
    if (number == block)
      return joinEpochs(epochs, clock->epochs);
    ClockPtr &known = others[number];
    if (!known) {
      known = clock;
    } else if (known != clock) {
      auto both = std::make_shared<Clock>(*known);
      joinEpochs(both->epochs, clock->epochs);
      known = std::move(both);
    }
  };
  if (other.block == block) {
    joinEpochs(epochs, other.epochs);
  } else {
    auto alone = std::make_shared<Clock>();
    alone->block = other.block;
    alone->epochs = other.epochs;
    add(other.block, alone);
  }
  for (const auto &[number, clock] : other.others)
    add(number, clock);
}

ClockPtr SyncVariables::read(uintptr_t address) {
  Shard &part = shard(address);
  std::lock_guard<std::mutex> lock(part.mutex);
  auto found = part.released.find(address);
  return found == part.released.end() ? nullptr : found->second;
}

void SyncVariables::release(uintptr_t address, const ClockPtr &clock) {
  Shard &part = shard(address);
  std::lock_guard<std::mutex> lock(part.mutex);
  ClockPtr &released = part.released[address];
  released = joined(released, clock);
}

ClockPtr joined(const ClockPtr &a, const ClockPtr &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
}

} // namespace drawloom::emulator
