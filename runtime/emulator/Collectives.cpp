//===- Collectives.cpp - where threads wait for each other ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Symbols.h"

namespace drawloom::emulator {

static std::string hexMask(uint32_t mask) {
  char text[16];
  snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

//===----------------------------------------------------------------------===//
// Of a warp
//===----------------------------------------------------------------------===//

void Block::meet(Thread &thread, const char *what, uint64_t key, int32_t site,
                 bool aligned, uint32_t mask, Collective::Compute compute,
                 void *operands) {
  uint32_t lane = thread.lane(), bit = 1u << lane, warp = thread.warp();
  if ((mask & bit) == 0)
    fail(FindingKind::Divergence, thread, site,
         nameOf(thread.index) + " executes " + what + " (" +
             launch.where(site) + ") with the mask " + hexMask(mask) +
             ", which lacks its own lane");
  uint32_t exited = gone[warp];
  if (aligned && exited != 0)
    fail(FindingKind::Divergence, thread, site,
         what + std::string(" (") + launch.where(site) +
             ") needs all threads of its warp, but lanes " + hexMask(exited) +
             " of warp " + std::to_string(warp) + " have exited");

  auto &pending = collectives[warp];
  size_t position = 0;
  for (; position < pending.size(); ++position) {
    Collective &other = pending[position];
    if (other.key == key && other.mask == mask &&
        (!aligned || other.site == site))
      break;
    // Each would wait for the other one.
    if ((other.arrived & mask) != 0 && (other.mask & bit) != 0) {
      auto first = static_cast<uint32_t>(__builtin_ctz(other.arrived & mask));
      fail(FindingKind::Divergence, thread, site,
           "the threads of warp " + std::to_string(warp) + " diverge: lane " +
               std::to_string(lane) + " is at " + what + " (" +
               launch.where(site) + ", lanes " + hexMask(mask) + "), lane " +
               std::to_string(first) + " at " + other.what + " (" +
               launch.where(other.site) + ", lanes " + hexMask(other.mask) +
               "), and each waits for the other");
    }
  }
  if (position == pending.size()) {
    pending.emplace_back();
    Collective &made = pending.back();
    made.what = what;
    made.key = key;
    made.site = site;
    made.aligned = aligned;
    made.mask = mask;
    made.compute = compute;
    made.block = this;
    made.warp = warp;
  }
  Collective &mine = pending[position];
  mine.arrived |= bit;
  mine.operands[lane] = operands;
  if (mine.arrived == (mask & ~exited))
    complete(warp, position);
  else
    waitFor(thread, {what, site, mask, -1});
}

/// All are there: the last one computes for the others and lets them go.
void Block::complete(uint32_t warp, size_t position) {
  auto &pending = collectives[warp];
  Collective all = pending[position];
  pending[position] = pending.back();
  pending.pop_back();
  if (all.compute)
    all.compute(all);
  for (uint32_t left = all.arrived; left != 0; left &= left - 1)
    wake(all.thread(static_cast<uint32_t>(__builtin_ctz(left))));
}

//===----------------------------------------------------------------------===//
// Of a block
//===----------------------------------------------------------------------===//

/// Tells everyone who waits what everyone who has come has done.
static void shareClocks(Block &block, const std::vector<Arrival> &arrivals) {
  auto told = std::make_shared<Clock>(*arrivals.front().clock);
  const Clock *last = arrivals.front().clock.get();
  for (const Arrival &arrival : arrivals)
    if (arrival.clock.get() != last) {
      last = arrival.clock.get();
      told->join(*last);
    }
  for (const Arrival &arrival : arrivals)
    told->epochs[arrival.thread] =
        std::max(told->epochs[arrival.thread], arrival.epoch);
  ClockPtr shared = std::move(told);
  for (const Arrival &arrival : arrivals)
    if (arrival.waits)
      block.threads[arrival.thread].clock = shared;
}

void Block::finish(Barrier &barrier, int32_t id) {
  // Those of one warp must be at the same instruction.
  std::array<const Arrival *, mostThreads / lanes> firstOf{};
  for (const Arrival &arrival : barrier.arrivals) {
    const Arrival *&first = firstOf[arrival.thread / lanes];
    if (!first)
      first = &arrival;
    if (first->site == arrival.site)
      continue;
    report(FindingKind::Divergence, threads[arrival.thread], first->site,
           arrival.site,
           "the threads of warp " + std::to_string(arrival.thread / lanes) +
               " diverge: " + nameOf(first->thread) + " came to barrier " +
               std::to_string(id) + " at " + launch.where(first->site) + ", " +
               nameOf(arrival.thread) + " at " + launch.where(arrival.site) +
               "; an aligned barrier needs the whole warp at one");
    break;
  }
  if (checksRaces)
    shareClocks(*this, barrier.arrivals);
  if (barrier.reduction >= 0) {
    uint32_t count = 0;
    for (const Arrival &arrival : barrier.arrivals)
      count += arrival.predicate != 0;
    auto kind = static_cast<BarrierReduction>(barrier.reduction);
    barrier.result = kind == BarrierReduction::Count ? count
                     : kind == BarrierReduction::And
                         ? count == barrier.arrivals.size()
                         : count != 0;
  }
  std::vector<Arrival> arrivals;
  arrivals.swap(barrier.arrivals);
  barrier.present.fill(0);
  for (const Arrival &arrival : arrivals)
    if (arrival.waits)
      wake(threads[arrival.thread]);
  arrivals.clear();
  arrivals.swap(barrier.arrivals);
}

uint32_t Block::barrier(Thread &thread, int32_t id, int32_t count, bool waits,
                        int32_t reduction, uint32_t predicate, int32_t site) {
  if (id < 0 || id > 15)
    fail(FindingKind::Misuse, thread, site,
         "barrier " + std::to_string(id) + " does not exist (" +
             launch.where(site) + "); a block has those from 0 to 15");
  auto most = static_cast<int32_t>(threads.size());
  if (count < 0 || count % int32_t(lanes) != 0 || count > most)
    fail(FindingKind::Misuse, thread, site,
         "a barrier of " + std::to_string(count) + " threads (" +
             launch.where(site) +
             "): the number must be a multiple of 32 and no more than the " +
             std::to_string(most) + " of the block");
  Barrier &barrier = barriers[static_cast<size_t>(id)];
  if (barrier.arrivals.empty()) {
    barrier.count = count;
    barrier.reduction = reduction;
  } else if (barrier.count != count || barrier.reduction != reduction) {
    const Arrival &first = barrier.arrivals.front();
    fail(FindingKind::Misuse, thread, site,
         "barrier " + std::to_string(id) + " is used for " +
             (count ? std::to_string(count) : std::string("all")) +
             " threads by " + nameOf(thread.index) + " (" + launch.where(site) +
             ") and for " +
             (barrier.count ? std::to_string(barrier.count)
                            : std::string("all")) +
             " by " + nameOf(first.thread) + " (" + launch.where(first.site) +
             ") at once");
  }
  uint64_t &word = barrier.present[thread.index / 64];
  uint64_t bit = uint64_t(1) << (thread.index % 64);
  if ((word & bit) != 0)
    fail(FindingKind::Misuse, thread, site,
         nameOf(thread.index) + " comes to barrier " + std::to_string(id) +
             " again (" + launch.where(site) + ") before it is complete");
  word |= bit;
  barrier.arrivals.push_back(
      {thread.index, site, waits, predicate, thread.epoch, thread.clock});
  // What comes after this is not covered by what the barrier tells.
  ++thread.epoch;
  uint32_t needed = count ? static_cast<uint32_t>(count) : live;
  if (barrier.arrivals.size() == needed)
    finish(barrier, id);
  else if (waits)
    waitFor(thread, {"barrier", site, 0, id});
  return barrier.result;
}

} // namespace drawloom::emulator
