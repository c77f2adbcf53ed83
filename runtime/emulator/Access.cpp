//===- Access.cpp - loads, stores and copies are checked -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/AccessCounts.h"
#include <cstring>

namespace drawloom::emulator {

static const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
  case AccessKind::AtomicLoad:
    return "reads";
  case AccessKind::Store:
    return "writes";
  case AccessKind::Atomic:
    return "changes atomically";
  case AccessKind::CopyIssued:
    return "copies to";
  }
  return "";
}

static const char *pastVerb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
  case AccessKind::AtomicLoad:
    return "read";
  case AccessKind::Store:
    return "wrote";
  case AccessKind::Atomic:
    return "changed atomically";
  case AccessKind::CopyIssued:
    return "copied to";
  }
  return "";
}

std::string describeAddress(const Block &block, const void *address) {
  if (block.isShared(address))
    return "byte " + std::to_string(block.offset(address)) +
           " of shared memory";
  char text[32];
  snprintf(text, sizeof text, "global address %p", address);
  return text;
}

/// What would order the two accesses.
static std::string missing(const Block &block, const Thread &thread,
                           const Conflict &conflict, bool shared) {
  if (conflict.block != block.number)
    return "nothing orders blocks of one launch but atomic operations with "
           "fences";
  if (conflict.thread / lanes == thread.warp())
    return "they are lanes of one warp, without a bar.warp.sync or a barrier "
           "of both in between";
  return "no barrier of both lies in between";
}

static void reportConflict(Block &block, Thread &thread, const char *address,
                           int64_t bytes, AccessKind kind, int32_t site,
                           const Conflict &conflict) {
  bool shared = block.isShared(address);
  std::string place = describeAddress(block, address + conflict.byte);
  std::string here = block.launch.where(site);
  std::string me = block.nameOf(thread.index);
  if (conflict.kind == Conflict::Uninitialized) {
    block.report(FindingKind::Uninitialized, thread, site, site,
                 me + " reads " + place + ", which nothing has written (" +
                     here + ")");
    return;
  }
  const std::string &there = block.launch.where(conflict.site);
  if (conflict.kind == Conflict::InFlight) {
    block.report(FindingKind::InFlight, thread, site, conflict.site,
                 me + " " + verb(kind) + " " + place + " (" + here +
                     ") while the asynchronous copy that " +
                     block.nameOf(conflict.thread) + " began there (" + there +
                     ") is under way: a cp.async.wait.group that covers it, "
                     "and a barrier behind it, must come first");
    return;
  }
  std::string other = block.nameOf(conflict.thread);
  if (conflict.block != block.number)
    other += " of block number " + std::to_string(conflict.block);
  block.report(FindingKind::Race, thread, site, conflict.site,
               "race on " + place + ": " + other + " " +
                   pastVerb(conflict.other) + " it (" + there + "), " + me +
                   " " + verb(kind) + " it (" + here + "); " +
                   missing(block, thread, conflict, shared));
}

void noteAccess(Thread &thread, const char *address, int64_t bytes,
                AccessKind kind, int32_t site) {
  Block &block = *thread.block;
  if (!block.checksRaces)
    return;
  Conflict conflict =
      block.isShared(address)
          ? block.shadow.touch(thread.actor(), block.offset(address), bytes,
                               kind, site)
          : block.launch.global->touch(thread.actor(),
                                       reinterpret_cast<uintptr_t>(address),
                                       bytes, kind, site);
  if (conflict.kind != Conflict::None)
    reportConflict(block, thread, address, bytes, kind, site, conflict);
}

static void checkGlobal(Thread &thread, uintptr_t value, int64_t bytes,
                        AccessKind kind, int32_t site) {
  if (thread.lastRange.contains(value, bytes))
    return;
  Block &block = *thread.block;
  auto outside = [&](std::string why) {
    char hex[32];
    snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(value));
    std::string text = block.nameOf(thread.index) + " " + verb(kind) + " " +
                       std::to_string(bytes) + " bytes of global memory at " +
                       hex + ", " + why + " (" + block.launch.where(site) + ")";
    std::string().swap(why);
    block.fail(FindingKind::OutOfBounds, thread, site, std::move(text));
  };
  // Nobody has memory there.
  constexpr uintptr_t firstPage = 4096;
  if (value < firstPage)
    outside("which is the null pointer or close to it");
  for (const GlobalMemory::Range &range : block.launch.kernel->constants)
    if (range.contains(value, bytes)) {
      if (kind != AccessKind::Load && kind != AccessKind::AtomicLoad)
        outside("which is a constant of the module");
      thread.lastRange = range;
      return;
    }
  const GlobalMemory *memory = block.launch.options->memory;
  if (!memory)
    return;
  GlobalMemory::Range range = memory->find(value);
  if (!range.contains(value, bytes)) {
    GlobalMemory::Range close = memory->before(value);
    GlobalMemory::Range next = memory->after(value);
    int64_t gap = block.launch.options->memoryBeyond;
    if (gap >= 0 && value >= close.end + static_cast<uintptr_t>(gap) &&
        (next.end == 0 ||
         value + static_cast<uintptr_t>(bytes + gap) <= next.start))
      return;
    if (close.end == 0)
      outside("which no allocation holds");
    outside("which is byte " + std::to_string(value - close.start) +
            " of the allocation of " + std::to_string(close.end - close.start) +
            " bytes in front of it");
  }
  thread.lastRange = range;
}

void checkAddress(Thread &thread, const char *address, int64_t bytes,
                  AccessKind kind, Space space, int64_t alignment,
                  int32_t site) {
  Block &block = *thread.block;
  if (++thread.accesses == block.launch.options->mostAccesses)
    block.fail(FindingKind::Endless, thread, site,
               block.nameOf(thread.index) + " has made " +
                   std::to_string(thread.accesses) +
                   " accesses and seems to run for ever (" +
                   block.launch.where(site) + ")");
  auto value = reinterpret_cast<uintptr_t>(address);
  bool shared = space == Space::Shared ||
                (space == Space::Generic && block.isShared(address));
  if (shared) {
    auto offset = static_cast<int64_t>(block.offset(address));
    if (offset < 0 || offset > block.launch.sharedBytes - bytes)
      block.fail(FindingKind::OutOfBounds, thread, site,
                 block.nameOf(thread.index) + " " + verb(kind) + " " +
                     std::to_string(bytes) + " bytes at offset " +
                     std::to_string(offset) + " of shared memory, which has " +
                     std::to_string(block.launch.sharedBytes) + " bytes (" +
                     block.launch.where(site) + ")");
  } else {
    checkGlobal(thread, value, bytes, kind, site);
  }
  if (alignment > 1 && value % static_cast<uint64_t>(alignment) != 0)
    block.fail(FindingKind::Misaligned, thread, site,
               block.nameOf(thread.index) + " " + verb(kind) + " " +
                   std::to_string(bytes) + " bytes at " +
                   describeAddress(block, address) +
                   ", which is not a multiple of " + std::to_string(alignment) +
                   " (" + block.launch.where(site) + ")");
}

void countAccess(Thread &thread, const char *address, int64_t bytes,
                 int32_t site) {
  Block &block = *thread.block;
  if (!block.counts)
    return;
  bool shared = block.isShared(address);
  block.counts->add(thread.index, site, shared,
                    shared ? block.offset(address)
                           : reinterpret_cast<uintptr_t>(address),
                    static_cast<int32_t>(bytes));
}

void completeCopies(Thread &thread, size_t count, int32_t site) {
  Block &block = *thread.block;
  for (size_t i = 0; i < count; ++i) {
    const PendingCopy &copy = thread.copies[i];
    if (copy.sourceBytes > 0)
      noteAccess(thread, copy.source, copy.sourceBytes, AccessKind::Load,
                 copy.site);
    std::memset(copy.destination, 0, static_cast<size_t>(copy.bytes));
    std::memcpy(copy.destination, copy.source,
                static_cast<size_t>(copy.sourceBytes));
    if (block.checksRaces)
      block.shadow.land(thread.actor(), block.offset(copy.destination),
                        copy.bytes, copy.site);
  }
  thread.copies.erase(thread.copies.begin(),
                      thread.copies.begin() + static_cast<ptrdiff_t>(count));
}

} // namespace drawloom::emulator
