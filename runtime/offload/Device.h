//===- Device.h - where records go ----------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nameless files in folders, which take and give bytes. A device knows no
// records, checksums or retries: it says what became of each transfer. One
// thread calls it; wake() alone may come from others.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_DEVICE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_DEVICE_H

#include "drawloom/runtime/Status.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace drawloom::runtime::offload {

/// Bytes between memory and one file. Memory, offset and count are multiples of
/// the file's alignment.
struct Transfer {
  enum class Kind : uint8_t { Write, Read };
  uint64_t id; ///< Of whoever submits it; no two under way have the same.
  Kind kind;
  unsigned file; ///< By the order of open().
  uint64_t offset;
  void *memory; ///< Untouched by others until the transfer has come back.
  uint64_t count;
};

/// What became of a transfer. Every one comes back once, also where it was
/// cancelled or its file is dead; until then its memory belongs to the device.
struct Completion {
  uint64_t id;
  /// Bytes, perhaps fewer than were asked for, or the negative of an errno:
  /// -ECANCELED where cancel() came in time.
  int64_t result;
};

/// What is known of an open file.
struct FileFacts {
  std::string folder;
  std::string fileSystem;  ///< "ext4", "tmpfs", "0x..." where unknown.
  uint64_t device;         ///< st_dev: two folders may be on one disk.
  uint32_t alignment;      ///< Of memory, offset and count.
  bool direct;             ///< Past the page cache (O_DIRECT).
  bool nameless;           ///< Never had a name (O_TMPFILE).
  bool reserved;           ///< Its space is kept for it (fallocate).
  std::string limitations; ///< Why something above is not so; "" if all is.
};

class Device {
public:
  virtual ~Device() = default;

  /// "io_uring", "threads" or "memory".
  virtual const char *name() const = 0;
  /// What it does without, and why; "" if it has all it could have. Complete
  /// once reap() was called.
  virtual std::string limitations() const { return ""; }
  /// A new file in `folder` with room for `bytes`, mode 0600, that is gone when
  /// the process is, however that ends. Proven by a write and a read.
  virtual Result<FileFacts> open(const std::string &folder, uint64_t bytes) = 0;
  /// Memory that many transfers will be from and to; a hint, which may do
  /// nothing. As long as the device lives, it stays mapped and keeps its pages
  /// (no MADV_DONTNEED): the kernel would go on to use those that it knows.
  virtual void registerMemory(void *memory, uint64_t bytes) = 0;
  /// Starts transfers, in any order. Never waits for one.
  virtual void submit(const Transfer *transfers, size_t count) = 0;
  /// Asks that a transfer come back soon.
  virtual void cancel(uint64_t id) = 0;
  /// Waits until a transfer has come back, wake() was called or the time is
  /// `until`, and gives up to `most` of those that have. Returns how many.
  virtual size_t reap(Completion *completions, size_t most, uint64_t until) = 0;
  /// Ends the reap() under way, or the next one.
  virtual void wake() = 0;
  /// Nanoseconds of a clock that only rises.
  virtual uint64_t now() const = 0;
  /// Transfers that have not come back.
  virtual size_t underWay() const = 0;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_DEVICE_H
