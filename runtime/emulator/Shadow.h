//===- Shadow.h - who touched which byte last -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_SHADOW_H
#define DRAWLOOM_RUNTIME_EMULATOR_SHADOW_H

#include "runtime/emulator/Clock.h"
#include <atomic>
#include <unordered_map>

namespace drawloom::emulator {

/// The thread that makes an access, and what it knows of other threads.
struct Actor {
  uint32_t block;
  uint32_t thread;
  uint32_t epoch;
  const Clock *clock;
};

enum class AccessKind : int32_t {
  Load = 0,
  Store = 1,
  Atomic = 2,
  /// A write by an asynchronous copy that has not been waited for.
  CopyIssued = 3,
  /// Conflicts with non-atomic writes.
  AtomicLoad = 4,
};

/// Two unordered accesses, or a read of data that was never written.
struct Conflict {
  enum Kind { None, Race, InFlight, Uninitialized } kind = None;
  /// The earlier access.
  AccessKind other = AccessKind::Load;
  uint32_t block = 0, thread = 0;
  int32_t site = 0;
  /// Offset of the first conflicting byte from the start of the access.
  int64_t byte = 0;
};

/// The last write and the reads since then.
class ByteHistory {
public:
  /// If more than `mostReads` warps have read, the oldest reads are forgotten.
  Conflict touch(const Actor &actor, AccessKind kind, int32_t site,
                 bool mustBeWritten, size_t mostReads);
  /// Records a write at this moment, without a check.
  void write(const Actor &actor, AccessKind kind, int32_t site);
  /// Ends a copy that this thread issued.
  void land(const Actor &actor, int32_t site);
  ByteHistory() = default;
  ByteHistory(const ByteHistory &other);
  ByteHistory &operator=(const ByteHistory &) = delete;
  void clear();

private:
  struct Write {
    uint32_t block = 0, epoch = 0;
    int32_t site = 0;
    uint16_t thread = 0;
    uint16_t kind = 0;
  };
  /// Threads of one warp that read in the same epoch.
  struct Reads {
    uint32_t block = 0, warp = 0, epoch = 0, mask = 0;
    int32_t site = 0;
    /// Returns the first of these lanes whose read the actor does not know of;
    /// 32 if there is none.
    uint32_t unknownTo(const Actor &actor) const;
  };
  void forgetReads();
  void addRead(const Actor &actor, int32_t site, size_t mostReads);

  Write last;
  Reads reads;
  std::unique_ptr<std::vector<Reads>> more;
};

/// History of four bytes; a single history as long as all accesses cover all
/// four.
class WordHistory {
public:
  template <typename Visit> void visit(unsigned first, unsigned end, Visit &&v);
  void clear();

private:
  ByteHistory all;
  std::unique_ptr<std::array<ByteHistory, 4>> bytes;
};

/// The shadow of one block's arena.
class SharedShadow {
public:
  /// Discards all histories.
  void reset(int64_t bytes);
  Conflict touch(const Actor &actor, uint64_t offset, int64_t bytes,
                 AccessKind kind, int32_t site);
  void land(const Actor &actor, uint64_t offset, int64_t bytes, int32_t site);

private:
  std::vector<WordHistory> words;
};

/// The shadow of global memory during one launch. Thread-safe.
class GlobalShadow {
public:
  Conflict touch(const Actor &actor, uintptr_t address, int64_t bytes,
                 AccessKind kind, int32_t site);

private:
  static constexpr uintptr_t pageBytes = 4096;
  struct Page {
    std::mutex mutex;
    std::array<WordHistory, pageBytes / 4> words;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages;
  };
  Page &page(uintptr_t number);
  std::array<Shard, 64> shards;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_SHADOW_H
