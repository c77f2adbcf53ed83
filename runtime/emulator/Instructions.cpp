//===- Instructions.cpp - what one thread or warp executes ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Instructions.h"
#include "runtime/emulator/Access.h"
#include <cstring>

namespace drawloom::emulator {

static Thread &self(void *thread) { return *static_cast<Thread *>(thread); }

//===----------------------------------------------------------------------===//
// Registers and memory
//===----------------------------------------------------------------------===//

int32_t emuRegister(void *thread, int32_t which) {
  const Thread &t = self(thread);
  const Block &block = *t.block;
  uint32_t bit = 1u << t.lane();
  auto value = [&]() -> uint32_t {
    switch (static_cast<SpecialRegister>(which)) {
    case SpecialRegister::ThreadX:
      return t.index;
    case SpecialRegister::BlockX:
      return block.index[0];
    case SpecialRegister::BlockY:
      return block.index[1];
    case SpecialRegister::BlockZ:
      return block.index[2];
    case SpecialRegister::GridX:
      return static_cast<uint32_t>(block.launch.grid.x);
    case SpecialRegister::GridY:
      return static_cast<uint32_t>(block.launch.grid.y);
    case SpecialRegister::GridZ:
      return static_cast<uint32_t>(block.launch.grid.z);
    case SpecialRegister::Threads:
      return static_cast<uint32_t>(block.threads.size());
    case SpecialRegister::Lane:
      return t.lane();
    case SpecialRegister::Warp:
      return t.warp();
    case SpecialRegister::Warps:
      return static_cast<uint32_t>(block.threads.size() / lanes);
    case SpecialRegister::LaneMaskEq:
      return bit;
    case SpecialRegister::LaneMaskLt:
      return bit - 1;
    case SpecialRegister::LaneMaskLe:
      return bit | (bit - 1);
    case SpecialRegister::LaneMaskGt:
      return ~(bit | (bit - 1));
    case SpecialRegister::LaneMaskGe:
      return ~(bit - 1);
    case SpecialRegister::SharedBytes:
      return static_cast<uint32_t>(block.launch.sharedBytes);
    }
    return 0;
  };
  return static_cast<int32_t>(value());
}

void *emuArena(void *thread) { return self(thread).block->arena; }

void emuAccess(void *thread, void *address, int64_t bytes, int32_t kind,
               int32_t alignment, int32_t site) {
  Thread &t = self(thread);
  auto space = static_cast<Space>(kind >> 4);
  auto access = static_cast<AccessKind>(kind & 15);
  const char *at = static_cast<const char *>(address);
  // What is in a thread's stack is nobody else's.
  if (space == Space::Generic && t.block->onStack(t, at))
    return;
  checkAddress(t, at, bytes, access, space, alignment, site);
  countAccess(t, at, bytes, site);
  noteAccess(t, at, bytes, access, site);
  bool reads = access == AccessKind::AtomicLoad;
  if (access != AccessKind::Atomic && !reads)
    return;
  // What this thread fenced off becomes visible to those who read the value;
  // what others did, with the next fence.
  if (t.block->checksRaces) {
    auto variable = reinterpret_cast<uintptr_t>(address);
    if (t.fenced && !reads)
      t.block->launch.variables->release(variable, t.fenced);
    if (t.seen.empty() || t.seen.back() != variable)
      t.seen.push_back(variable);
  }
  // It may be in a loop that waits for the value to change.
  t.block->yield(t);
}

void emuElement(void *thread, void *address, void *root, int64_t bytes,
                int32_t element, int32_t site) {
  checkElement(self(thread), static_cast<const char *>(address),
               static_cast<const char *>(root), bytes, element, 0, site);
}

void emuMatrixElement(void *thread, void *root, int32_t element) {
  self(thread).matrix = {static_cast<const char *>(root), element};
}

void emuFence(void *thread, int32_t scope, int32_t site) {
  Thread &t = self(thread);
  if (!t.block->checksRaces)
    return;
  auto now = std::make_shared<Clock>(*t.clock);
  now->epochs[t.index] = t.epoch;
  ClockPtr clock = std::move(now);
  for (uintptr_t variable : t.seen)
    clock = joined(clock, t.block->launch.variables->read(variable));
  t.seen.clear();
  t.clock = clock;
  t.fenced = clock;
  ++t.epoch;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

int32_t emuBarrier(void *thread, int32_t id, int32_t count, int32_t reduction,
                   int32_t predicate, int32_t site) {
  Thread &t = self(thread);
  return static_cast<int32_t>(
      t.block->barrier(t, id, count, /*waits=*/true, reduction,
                       static_cast<uint32_t>(predicate), site));
}

void emuBarrierArrive(void *thread, int32_t id, int32_t count, int32_t site) {
  Thread &t = self(thread);
  t.block->barrier(t, id, count, /*waits=*/false, -1, 0, site);
}

/// Unlike the other instructions of a warp, a warp barrier orders memory.
static void shareWarp(Collective &all) {
  if (!all.block->checksRaces)
    return;
  std::shared_ptr<Clock> told;
  const Clock *last = nullptr;
  auto each = [&](auto &&visit) {
    for (uint32_t left = all.arrived; left != 0; left &= left - 1)
      visit(all.thread(static_cast<uint32_t>(__builtin_ctz(left))));
  };
  each([&](Thread &t) {
    if (t.clock.get() == last)
      return;
    last = t.clock.get();
    if (told)
      told->join(*last);
    else
      told = std::make_shared<Clock>(*last);
  });
  each([&](Thread &t) {
    told->epochs[t.index] = std::max(told->epochs[t.index], t.epoch);
  });
  ClockPtr shared = std::move(told);
  each([&](Thread &t) {
    t.clock = shared;
    ++t.epoch;
  });
}

void emuWarpBarrier(void *thread, int32_t mask, int32_t site) {
  Thread &t = self(thread);
  t.block->meet(t, "bar.warp.sync", 'b', site, /*aligned=*/false,
                static_cast<uint32_t>(mask), shareWarp, nullptr);
}

//===----------------------------------------------------------------------===//
// Exchange of registers between lanes
//===----------------------------------------------------------------------===//

namespace {
struct Exchange {
  uint32_t value = 0;
  uint32_t other = 0;
  uint32_t clamp = 0;
  uint64_t wide = 0;
  uint32_t result = 0;
  bool valid = false;
};
} // namespace

static Exchange &exchange(Collective &all, uint32_t lane) {
  return *static_cast<Exchange *>(all.operands[lane]);
}

template <typename Visit> static void forLanes(uint32_t mask, Visit &&visit) {
  for (; mask != 0; mask &= mask - 1)
    visit(static_cast<uint32_t>(__builtin_ctz(mask)));
}

static void shuffleLanes(Collective &all) {
  auto kind = static_cast<Shuffle>(all.key & 0xff);
  forLanes(all.arrived, [&](uint32_t lane) {
    Exchange &mine = exchange(all, lane);
    // As the manual has it: bits 0 to 4 of c bound the source lane, bits 8 to
    // 12 say which bits of the lane number name its segment.
    uint32_t b = mine.other & 31, c = mine.clamp & 31;
    uint32_t segment = (mine.clamp >> 8) & 31;
    uint32_t most = (lane & segment) | (c & ~segment);
    uint32_t least = lane & segment;
    int32_t from = 0;
    switch (kind) {
    case Shuffle::Up:
      from = static_cast<int32_t>(lane) - static_cast<int32_t>(b);
      mine.valid = from >= static_cast<int32_t>(most);
      break;
    case Shuffle::Down:
      from = static_cast<int32_t>(lane + b);
      mine.valid = from <= static_cast<int32_t>(most);
      break;
    case Shuffle::Butterfly:
      from = static_cast<int32_t>(lane ^ b);
      mine.valid = from <= static_cast<int32_t>(most);
      break;
    case Shuffle::Index:
      from = static_cast<int32_t>(least | (b & ~segment));
      mine.valid = from <= static_cast<int32_t>(most);
      break;
    }
    auto source = mine.valid ? static_cast<uint32_t>(from) : lane;
    if ((all.arrived & (1u << source)) == 0) {
      Thread &thread = all.thread(lane);
      all.block->report(FindingKind::Divergence, thread, all.site, all.site,
                        all.block->nameOf(thread.index) +
                            " takes the value of lane " +
                            std::to_string(source) +
                            ", which does not take part in the shuffle (" +
                            all.block->launch.where(all.site) + ")");
      mine.result = ~0u;
      return;
    }
    mine.result = exchange(all, source).value;
  });
}

int64_t emuShuffle(void *thread, int32_t kind, int32_t mask, int32_t value,
                   int32_t offset, int32_t clamp, int32_t site) {
  Thread &t = self(thread);
  Exchange mine;
  mine.value = static_cast<uint32_t>(value);
  mine.other = static_cast<uint32_t>(offset);
  mine.clamp = static_cast<uint32_t>(clamp);
  t.block->meet(t, "shfl.sync", ('s' << 8) | static_cast<uint64_t>(kind), site,
                /*aligned=*/false, static_cast<uint32_t>(mask), shuffleLanes,
                &mine);
  return static_cast<int64_t>(mine.result | (uint64_t(mine.valid) << 32));
}

static void voteLanes(Collective &all) {
  uint32_t votes = 0;
  forLanes(all.arrived, [&](uint32_t lane) {
    if (exchange(all, lane).value != 0)
      votes |= 1u << lane;
  });
  uint32_t result = 0;
  switch (static_cast<Vote>(all.key & 0xff)) {
  case Vote::Any:
    result = votes != 0;
    break;
  case Vote::All:
    result = votes == all.arrived;
    break;
  case Vote::Ballot:
    result = votes;
    break;
  case Vote::Uniform:
    result = votes == 0 || votes == all.arrived;
    break;
  }
  forLanes(all.arrived,
           [&](uint32_t lane) { exchange(all, lane).result = result; });
}

int32_t emuVote(void *thread, int32_t kind, int32_t mask, int32_t predicate,
                int32_t site) {
  Thread &t = self(thread);
  Exchange mine;
  mine.value = static_cast<uint32_t>(predicate);
  t.block->meet(t, "vote.sync", ('v' << 8) | static_cast<uint64_t>(kind), site,
                /*aligned=*/false, static_cast<uint32_t>(mask), voteLanes,
                &mine);
  return static_cast<int32_t>(mine.result);
}

static float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t reduceFloats(uint32_t a, uint32_t b, int32_t kind) {
  constexpr uint32_t canonicalNan = 0x7fffffff;
  float x = asFloat(a), y = asFloat(b);
  if (x != x || y != y) {
    if ((kind & reduceNan) != 0 || (x != x && y != y))
      return canonicalNan;
    return x != x ? b : a;
  }
  // Zeros are ordered by their sign.
  bool less = x < y || (x == y && (a >> 31) > (b >> 31));
  bool minimum = static_cast<Reduction>(kind & 15) == Reduction::FloatMin;
  return less == minimum ? a : b;
}

static uint32_t reduceTwo(uint32_t a, uint32_t b, int32_t kind) {
  auto signedA = static_cast<int32_t>(a), signedB = static_cast<int32_t>(b);
  switch (static_cast<Reduction>(kind & 15)) {
  case Reduction::Add:
    return a + b;
  case Reduction::And:
    return a & b;
  case Reduction::Max:
    return signedA > signedB ? a : b;
  case Reduction::Min:
    return signedA < signedB ? a : b;
  case Reduction::Or:
    return a | b;
  case Reduction::UnsignedMax:
    return std::max(a, b);
  case Reduction::UnsignedMin:
    return std::min(a, b);
  case Reduction::Xor:
    return a ^ b;
  case Reduction::FloatMin:
  case Reduction::FloatMax:
    return reduceFloats(a, b, kind);
  }
  return 0;
}

static void reduceLanes(Collective &all) {
  auto kind = static_cast<int32_t>(all.key & 0xff);
  bool first = true;
  uint32_t result = 0;
  forLanes(all.arrived, [&](uint32_t lane) {
    uint32_t value = exchange(all, lane).value;
    if ((kind & reduceAbsolute) != 0)
      value &= 0x7fffffff;
    result = first ? value : reduceTwo(result, value, kind);
    first = false;
  });
  if ((kind & 15) >= static_cast<int32_t>(Reduction::FloatMin))
    result = reduceFloats(result, result, kind);
  forLanes(all.arrived,
           [&](uint32_t lane) { exchange(all, lane).result = result; });
}

int32_t emuReduce(void *thread, int32_t kind, int32_t mask, int32_t value,
                  int32_t site) {
  Thread &t = self(thread);
  Exchange mine;
  mine.value = static_cast<uint32_t>(value);
  t.block->meet(t, "redux.sync", ('r' << 8) | static_cast<uint64_t>(kind), site,
                /*aligned=*/false, static_cast<uint32_t>(mask), reduceLanes,
                &mine);
  return static_cast<int32_t>(mine.result);
}

static void matchLanes(Collective &all) {
  bool wantsAll = (all.key & 1) != 0;
  forLanes(all.arrived, [&](uint32_t lane) {
    Exchange &mine = exchange(all, lane);
    uint32_t same = 0;
    forLanes(all.arrived, [&](uint32_t other) {
      if (exchange(all, other).wide == mine.wide)
        same |= 1u << other;
    });
    mine.valid = same == all.arrived;
    mine.result = wantsAll && !mine.valid ? 0 : same;
  });
}

int64_t emuMatch(void *thread, int32_t wantsAll, int32_t mask, int64_t value,
                 int32_t site) {
  Thread &t = self(thread);
  Exchange mine;
  mine.wide = static_cast<uint64_t>(value);
  t.block->meet(t, "match.sync", ('m' << 8) | static_cast<uint64_t>(wantsAll),
                site, /*aligned=*/false, static_cast<uint32_t>(mask),
                matchLanes, &mine);
  return static_cast<int64_t>(mine.result | (uint64_t(mine.valid) << 32));
}

static void electLane(Collective &all) {
  auto leader = static_cast<uint32_t>(__builtin_ctz(all.arrived));
  forLanes(all.arrived, [&](uint32_t lane) {
    exchange(all, lane).result = leader;
    exchange(all, lane).valid = lane == leader;
  });
}

int64_t emuElect(void *thread, int32_t mask, int32_t site) {
  Thread &t = self(thread);
  Exchange mine;
  t.block->meet(t, "elect.sync", 'e', site, /*aligned=*/false,
                static_cast<uint32_t>(mask), electLane, &mine);
  return static_cast<int64_t>(mine.result | (uint64_t(mine.valid) << 32));
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void emuCopyAsync(void *thread, void *destination, void *source, int32_t bytes,
                  int32_t sourceBytes, int32_t site) {
  Thread &t = self(thread);
  char *to = static_cast<char *>(destination);
  const char *from = static_cast<const char *>(source);
  if (sourceBytes < 0 || sourceBytes > bytes)
    t.block->fail(FindingKind::Misuse, t, site,
                  t.block->nameOf(t.index) + " copies " +
                      std::to_string(sourceBytes) + " of " +
                      std::to_string(bytes) + " bytes (" +
                      t.block->launch.where(site) + ")");
  checkAddress(t, to, bytes, AccessKind::Store, Space::Shared, bytes, site);
  countAccess(t, to, bytes, site);
  noteAccess(t, to, bytes, AccessKind::CopyIssued, site);
  if (sourceBytes > 0) {
    // The place behind this one stands for the other side.
    checkAddress(t, from, sourceBytes, AccessKind::Load, Space::Global, bytes,
                 site + 1);
    countAccess(t, from, sourceBytes, site + 1);
    noteAccess(t, from, sourceBytes, AccessKind::Load, site + 1);
  }
  // Nobody may rely on what is there until the wait.
  std::memset(to, 0xff, static_cast<size_t>(bytes));
  t.copies.push_back({to, from, bytes, sourceBytes, site});
}

void emuCopyCommit(void *thread, int32_t site) {
  Thread &t = self(thread);
  t.groups.push_back(t.copies.size());
}

void emuCopyWait(void *thread, int32_t pending, int32_t site) {
  Thread &t = self(thread);
  // Below 0: everything, committed or not.
  if (pending < 0) {
    completeCopies(t, t.copies.size(), site);
    t.groups.clear();
    return;
  }
  auto left = static_cast<size_t>(pending);
  if (t.groups.size() <= left)
    return;
  size_t done = t.groups.size() - left;
  size_t count = t.groups[done - 1];
  completeCopies(t, count, site);
  t.groups.erase(t.groups.begin(),
                 t.groups.begin() + static_cast<ptrdiff_t>(done));
  for (size_t &end : t.groups)
    end -= count;
}

} // namespace drawloom::emulator
