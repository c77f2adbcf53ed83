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

/// Who makes an access, and what it knows.
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
  /// Of an asynchronous copy that has not been waited for.
  CopyIssued = 3,
  /// Conflicts with what is not atomic and writes.
  AtomicLoad = 4,
};

/// Two accesses that nothing orders, or a read of what nobody wrote.
struct Conflict {
  enum Kind { None, Race, InFlight, Uninitialized } kind = None;
  /// The earlier access.
  AccessKind other = AccessKind::Load;
  uint32_t block = 0, thread = 0;
  int32_t site = 0;
  /// Of the first byte, from the start of the access.
  int64_t byte = 0;
};

/// The last write and the reads since then.
class ByteHistory {
public:
  /// Of more than `mostReads` warps that read, the oldest are forgotten.
  Conflict touch(const Actor &actor, AccessKind kind, int32_t site,
                 bool mustBeWritten, size_t mostReads);
  /// Makes the access a write of this moment, without a check.
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
    /// The first of them that the actor knows nothing of; 32 where none is.
    uint32_t unknownTo(const Actor &actor) const;
  };
  void forgetReads();
  void addRead(const Actor &actor, int32_t site, size_t mostReads);

  Write last;
  Reads reads;
  std::unique_ptr<std::vector<Reads>> more;
};

/// Four bytes; one history as long as all accesses cover all four.
class WordHistory {
public:
  template <typename Visit> void visit(unsigned first, unsigned end, Visit &&v);
  void clear();

private:
  ByteHistory all;
  std::unique_ptr<std::array<ByteHistory, 4>> bytes;
};

/// The arena of one block.
class SharedShadow {
public:
  /// Forgets everything.
  void reset(int64_t bytes);
  Conflict touch(const Actor &actor, uint64_t offset, int64_t bytes,
                 AccessKind kind, int32_t site);
  void land(const Actor &actor, uint64_t offset, int64_t bytes, int32_t site);

private:
  std::vector<WordHistory> words;
};

/// Global memory during one launch. Safe to use from several threads.
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
