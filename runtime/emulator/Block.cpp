//===- Block.cpp - the threads of a block take turns ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/AccessCounts.h"
#include "runtime/emulator/Machine.h"
#include <cstring>
#include <sys/mman.h>

namespace drawloom::emulator {

Actor Thread::actor() const {
  return {static_cast<uint32_t>(block->number), index, epoch, clock.get()};
}

Thread &Collective::thread(uint32_t lane) {
  return block->threads[warp * lanes + lane];
}

Block::Block(Launch &launch)
    : launch(launch), threads(static_cast<size_t>(launch.kernel->threads)),
      checksRaces(launch.options->checkRaces) {}

Block::~Block() {
  if (arena)
    munmap(arena, arenaBytes);
}

bool Block::allocate() {
  // Twice as much, to cut an aligned piece out of it.
  void *memory = mmap(nullptr, 2 * arenaBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  char *start = static_cast<char *>(memory);
  uint64_t before = -reinterpret_cast<uintptr_t>(start) % arenaBytes;
  arena = start + before;
  if (before > 0)
    munmap(start, before);
  munmap(arena + arenaBytes, arenaBytes - before);
  if (launch.counts)
    counts = std::make_unique<AccessCounts>(launch.kernel->sites->size(),
                                            launch.kernel->threads);
  return stacks.reserve(threads.size());
}

std::string Block::name() const {
  return "@" + launch.kernel->name + ", block (" + std::to_string(index[0]) +
         ", " + std::to_string(index[1]) + ", " + std::to_string(index[2]) +
         ")";
}

std::string Block::nameOf(uint32_t thread) const {
  return "thread " + std::to_string(thread) + " (lane " +
         std::to_string(thread % lanes) + " of warp " +
         std::to_string(thread / lanes) + ")";
}

void Block::report(FindingKind kind, const Thread &thread, int32_t site,
                   int32_t otherSite, const std::string &text) {
  launch.findings.add(kind, site, otherSite, name() + ": " + text);
}

void Block::fail(FindingKind kind, const Thread &thread, int32_t site,
                 std::string text) {
  report(kind, thread, site, 0, text);
  std::string().swap(text);
  aborted = true;
  threads[thread.index].fiber.switchTo(main, true);
  __builtin_unreachable();
}

void Block::runThread(void *argument) {
  Thread &self = *static_cast<Thread *>(argument);
  self.fiber.arrived();
  Block &block = *self.block;
  block.launch.kernel->entry(&self, block.launch.parameters);
  block.exit(self);
}

void Block::run(int64_t blockNumber) {
  number = blockNumber;
  const Grid &grid = launch.grid;
  index = {static_cast<uint32_t>(number % grid.x),
           static_cast<uint32_t>(number / grid.x % grid.y),
           static_cast<uint32_t>(number / grid.x / grid.y)};
  // Uninitialised values stand out as NaN.
  std::memset(arena, 0xff, arenaBytes);
  if (checksRaces) {
    shadow.reset(launch.sharedBytes);
    auto nothing = std::make_shared<Clock>();
    nothing->block = number;
    nothing->epochs.resize(threads.size());
    initialClock = std::move(nothing);
  }
  for (auto &pending : collectives)
    pending.clear();
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  gone.fill(0);
  ready.fill(0);
  live = static_cast<uint32_t>(threads.size());
  random = launch.options->seed * 0x9e3779b97f4a7c15u +
           static_cast<uint64_t>(number) * 0xbf58476d1ce4e5b9u + 1;
  aborted = false;
  switches = 0;
  main.adoptThread();
  for (size_t i = 0; i < threads.size(); ++i) {
    Thread &thread = threads[i];
    thread.block = this;
    thread.index = static_cast<uint32_t>(i);
    thread.done = false;
    thread.clock = initialClock;
    thread.epoch = 1;
    thread.accesses = 0;
    thread.fenced = nullptr;
    thread.seen.clear();
    thread.copies.clear();
    thread.groups.clear();
    thread.fiber.start(stacks.end(i), Stacks::bytes, runThread, &thread);
    wake(thread);
  }
  main.switchTo(
      threads[choose(static_cast<uint32_t>(threads.size()) - 1)].fiber);
  // Here again: all have exited, one has failed, or nobody can go on.
  if (!aborted && live > 0) {
    launch.findings.add(FindingKind::Deadlock, 0, 0, describeDeadlock());
    aborted = true;
  }
  if (aborted)
    launch.stopped = true;
  if (counts)
    counts->flush();
  launch.switches += switches;
  ++launch.blocks;
}

void Block::wake(Thread &thread) {
  ready[thread.index / 64] |= uint64_t(1) << (thread.index % 64);
}

/// The number of a ready thread; more than there are where none is.
uint32_t Block::choose(uint32_t after) {
  size_t words = (threads.size() + 63) / 64;
  if (launch.options->seed == 0) {
    // The next one, round and round.
    uint32_t start = after + 1;
    for (size_t i = 0; i <= words; ++i) {
      size_t word = (start / 64 + i) % words;
      uint64_t bits = ready[word];
      if (i == 0 && start / 64 < words)
        bits &= ~uint64_t(0) << (start % 64);
      if (bits != 0)
        return static_cast<uint32_t>(word * 64) +
               static_cast<uint32_t>(__builtin_ctzll(bits));
    }
    return mostThreads;
  }
  uint32_t count = 0;
  for (size_t i = 0; i < words; ++i)
    count += static_cast<uint32_t>(__builtin_popcountll(ready[i]));
  if (count == 0)
    return mostThreads;
  // xorshift64*.
  random ^= random >> 12;
  random ^= random << 25;
  random ^= random >> 27;
  auto pick = static_cast<uint32_t>(
      ((random * 0x2545f4914f6cdd1du) >> 32) * count >> 32);
  for (size_t i = 0;; ++i) {
    uint64_t bits = ready[i];
    auto here = static_cast<uint32_t>(__builtin_popcountll(bits));
    if (pick >= here) {
      pick -= here;
      continue;
    }
    for (; pick > 0; --pick)
      bits &= bits - 1;
    return static_cast<uint32_t>(i * 64) +
           static_cast<uint32_t>(__builtin_ctzll(bits));
  }
}

void Block::switchAway(Thread &thread, bool forEver) {
  ++switches;
  uint32_t next = choose(thread.index);
  if (next == thread.index && !forEver)
    return;
  thread.fiber.switchTo(next < threads.size() ? threads[next].fiber : main,
                        forEver);
}

void Block::waitFor(Thread &thread, Wait wait) {
  thread.wait = wait;
  ready[thread.index / 64] &= ~(uint64_t(1) << (thread.index % 64));
  switchAway(thread, false);
  thread.wait = Wait();
}

void Block::yield(Thread &thread) { switchAway(thread, false); }

void Block::exit(Thread &thread) {
  thread.done = true;
  --live;
  ready[thread.index / 64] &= ~(uint64_t(1) << (thread.index % 64));
  // Copies that nobody waits for happen all the same, unseen.
  thread.copies.clear();
  // Others may have waited for this one alone.
  auto &pending = collectives[thread.warp()];
  uint32_t exited = gone[thread.warp()] |= 1u << thread.lane();
  for (size_t i = pending.size(); i-- > 0;)
    if (pending[i].arrived == (pending[i].mask & ~exited)) {
      if (pending[i].aligned)
        fail(FindingKind::Divergence, thread, pending[i].site,
             nameOf(thread.index) + " has exited, but " + pending[i].what +
                 " (" + launch.where(pending[i].site) +
                 ") needs all threads of its warp");
      complete(thread.warp(), i);
    }
  for (int32_t id = 0; id < 16; ++id) {
    Barrier &barrier = barriers[static_cast<size_t>(id)];
    if (!barrier.arrivals.empty() && barrier.count == 0 &&
        barrier.arrivals.size() == live)
      finish(barrier, id);
  }
  switchAway(thread, true);
  __builtin_unreachable();
}

std::string Block::describeDeadlock() const {
  std::string text = name() + ": deadlock, " + std::to_string(live) + " of " +
                     std::to_string(threads.size()) + " threads wait for ever";
  // Neighbours that wait for the same thing share a line.
  for (size_t i = 0; i < threads.size();) {
    const Thread &first = threads[i];
    size_t end = i + 1;
    while (end < threads.size() && threads[end].done == first.done &&
           threads[end].wait.site == first.wait.site &&
           threads[end].wait.mask == first.wait.mask &&
           threads[end].wait.barrier == first.wait.barrier)
      ++end;
    text += "\n  ";
    text += end == i + 1 ? "thread " + std::to_string(i)
                         : "threads " + std::to_string(i) + " to " +
                               std::to_string(end - 1);
    if (first.done) {
      text += end == i + 1 ? " has exited" : " have exited";
    } else {
      text += end == i + 1 ? " waits" : " wait";
      text += std::string(" at ") + first.wait.what;
      if (first.wait.barrier >= 0) {
        const Barrier &barrier =
            barriers[static_cast<size_t>(first.wait.barrier)];
        text += " " + std::to_string(first.wait.barrier) + " (" +
                std::to_string(barrier.arrivals.size()) + " of " +
                std::to_string(barrier.count ? barrier.count : int32_t(live)) +
                " threads have come)";
      }
      if (first.wait.mask != 0) {
        char mask[32];
        snprintf(mask, sizeof mask, " for lanes 0x%08x", first.wait.mask);
        text += mask;
      }
      text += ": " + launch.where(first.wait.site);
    }
    i = end;
  }
  return text;
}

} // namespace drawloom::emulator
