//===- Shadow.cpp - who touched which byte last --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Shadow.h"
#include <algorithm>

namespace drawloom::emulator {

static bool knows(const Actor &actor, uint32_t block, uint32_t thread,
                  uint32_t epoch) {
  return (block == actor.block && thread == actor.thread) ||
         actor.clock->knows(block, thread, epoch);
}

ByteHistory::ByteHistory(const ByteHistory &other)
    : last(other.last), reads(other.reads),
      more(other.more ? std::make_unique<std::vector<Reads>>(*other.more)
                      : nullptr) {}

void ByteHistory::clear() {
  last = Write();
  forgetReads();
}

// What was read by several warps once will be so again: the memory stays.
void ByteHistory::forgetReads() {
  reads = Reads();
  if (more)
    more->clear();
}

uint32_t ByteHistory::Reads::unknownTo(const Actor &actor) const {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
    if (!knows(actor, block, warp * 32 + lane, epoch))
      return lane;
  }
  return 32;
}

void ByteHistory::addRead(const Actor &actor, int32_t site, size_t mostReads) {
  uint32_t warp = actor.thread / 32, bit = 1u << (actor.thread % 32);
  auto join = [&](Reads &known) {
    if (known.epoch != actor.epoch || known.warp != warp ||
        known.block != actor.block)
      return false;
    known.mask |= bit;
    return true;
  };
  Reads mine{actor.block, warp, actor.epoch, bit, site};
  if (join(reads))
    return;
  if (!more || more->empty()) {
    if (reads.unknownTo(actor) == 32) {
      reads = mine;
      return;
    }
    if (!more) {
      more = std::make_unique<std::vector<Reads>>();
      more->reserve(std::min<size_t>(mostReads, 4));
    }
  }
  for (size_t i = more->size(); i-- > 0;)
    if (join((*more)[i]))
      return;
  // What happened before this read also happened before a write that comes
  // after it.
  more->erase(std::remove_if(more->begin(), more->end(),
                             [&](const Reads &known) {
                               return known.unknownTo(actor) == 32;
                             }),
              more->end());
  if (more->size() >= mostReads)
    more->erase(more->begin());
  more->push_back(mine);
}

Conflict ByteHistory::touch(const Actor &actor, AccessKind kind, int32_t site,
                            bool mustBeWritten, size_t mostReads) {
  Conflict conflict;
  bool isAtomic = kind == AccessKind::Atomic || kind == AccessKind::AtomicLoad;
  auto lastKind = static_cast<AccessKind>(last.kind);
  auto set = [&](Conflict::Kind what, AccessKind other, uint32_t block,
                 uint32_t thread, int32_t otherSite) {
    if (conflict.kind == Conflict::None)
      conflict = {what, other, block, thread, otherSite, 0};
  };
  if (last.epoch == 0) {
    if (mustBeWritten && (kind == AccessKind::Load || isAtomic))
      set(Conflict::Uninitialized, kind, 0, 0, site);
  } else if (lastKind == AccessKind::CopyIssued) {
    set(Conflict::InFlight, lastKind, last.block, last.thread, last.site);
  } else if (!(isAtomic && lastKind == AccessKind::Atomic) &&
             !knows(actor, last.block, last.thread, last.epoch)) {
    set(Conflict::Race, lastKind, last.block, last.thread, last.site);
  }
  if (kind == AccessKind::AtomicLoad)
    return conflict;
  if (kind == AccessKind::Load) {
    addRead(actor, site, mostReads);
    return conflict;
  }
  auto check = [&](const Reads &known) {
    uint32_t lane = known.unknownTo(actor);
    if (lane < 32)
      set(Conflict::Race, AccessKind::Load, known.block, known.warp * 32 + lane,
          known.site);
  };
  if (reads.epoch != 0)
    check(reads);
  if (more)
    for (const Reads &known : *more)
      check(known);
  write(actor, kind, site);
  return conflict;
}

void ByteHistory::write(const Actor &actor, AccessKind kind, int32_t site) {
  last = {actor.block, actor.epoch, site, static_cast<uint16_t>(actor.thread),
          static_cast<uint16_t>(kind)};
  forgetReads();
}

void ByteHistory::land(const Actor &actor, int32_t site) {
  if (static_cast<AccessKind>(last.kind) == AccessKind::CopyIssued &&
      last.thread == actor.thread)
    write(actor, AccessKind::Store, site);
}

template <typename Visit>
void WordHistory::visit(unsigned first, unsigned end, Visit &&v) {
  if (!bytes) {
    if (first == 0 && end == 4)
      return v(all, 0);
    bytes = std::make_unique<std::array<ByteHistory, 4>>(
        std::array<ByteHistory, 4>{all, all, all, all});
  }
  for (unsigned i = first; i < end; ++i)
    v((*bytes)[i], i);
}

void WordHistory::clear() {
  all.clear();
  bytes.reset();
}

/// Calls v(history, its byte counted from `start`) for every part.
template <typename Words, typename Visit>
static void visitRange(Words &words, uint64_t start, int64_t bytes, Visit &&v) {
  uint64_t end = start + static_cast<uint64_t>(bytes);
  for (uint64_t at = start; at < end;) {
    uint64_t word = at / 4;
    auto stop = static_cast<unsigned>(std::min(end - word * 4, uint64_t(4)));
    words[word].visit(static_cast<unsigned>(at - word * 4), stop,
                      [&](ByteHistory &history, unsigned byte) {
                        v(history,
                          static_cast<int64_t>(word * 4 + byte - start));
                      });
    at = word * 4 + stop;
  }
}

template <typename Words>
static Conflict touchRange(Words &words, const Actor &actor, uint64_t start,
                           int64_t bytes, AccessKind kind, int32_t site,
                           bool mustBeWritten, size_t mostReads) {
  Conflict first;
  visitRange(words, start, bytes, [&](ByteHistory &history, int64_t byte) {
    Conflict found = history.touch(actor, kind, site, mustBeWritten, mostReads);
    if (found.kind != Conflict::None && first.kind == Conflict::None) {
      first = found;
      first.byte = byte;
    }
  });
  return first;
}

void SharedShadow::reset(int64_t bytes) {
  for (WordHistory &word : words)
    word.clear();
  words.resize(static_cast<size_t>((bytes + 3) / 4));
}

Conflict SharedShadow::touch(const Actor &actor, uint64_t offset, int64_t bytes,
                             AccessKind kind, int32_t site) {
  return touchRange(words, actor, offset, bytes, kind, site, true,
                    /*mostReads=*/32);
}

void SharedShadow::land(const Actor &actor, uint64_t offset, int64_t bytes,
                        int32_t site) {
  visitRange(words, offset, bytes,
             [&](ByteHistory &history, int64_t) { history.land(actor, site); });
}

GlobalShadow::Page &GlobalShadow::page(uintptr_t number) {
  Shard &shard = shards[number % shards.size()];
  std::lock_guard<std::mutex> lock(shard.mutex);
  std::unique_ptr<Page> &page = shard.pages[number];
  if (!page)
    page = std::make_unique<Page>();
  return *page;
}

// Weights are read by every block: what each word remembers must be little.
Conflict GlobalShadow::touch(const Actor &actor, uintptr_t address,
                             int64_t bytes, AccessKind kind, int32_t site) {
  Conflict first;
  for (int64_t done = 0; done < bytes;) {
    uintptr_t at = address + static_cast<uintptr_t>(done);
    auto here = static_cast<int64_t>(pageBytes - at % pageBytes);
    int64_t part = std::min(bytes - done, here);
    Page &touched = page(at / pageBytes);
    std::lock_guard<std::mutex> lock(touched.mutex);
    Conflict found = touchRange(touched.words, actor, at % pageBytes, part,
                                kind, site, false, /*mostReads=*/4);
    if (found.kind != Conflict::None && first.kind == Conflict::None) {
      first = found;
      first.byte += done;
    }
    done += part;
  }
  return first;
}

} // namespace drawloom::emulator
