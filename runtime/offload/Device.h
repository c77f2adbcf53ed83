//===- Device.h - where records go ----------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stores bytes in unnamed files in folders. A device knows nothing of records,
// checksums or retries: it reports the result of each transfer. It is used by
// one thread; only wake() may be called from other threads.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_DEVICE_H
#define DRAWLOOM_RUNTIME_OFFLOAD_DEVICE_H

#include "drawloom/runtime/Status.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace drawloom::runtime::offload {

/// A transfer between memory and one file. Memory address, offset and count
/// must be multiples of the file's alignment.
struct Transfer {
  enum class Kind : uint8_t { Write, Read };
  uint64_t id; ///< Chosen by the submitter; unique among transfers in progress.
  Kind kind;
  unsigned file; ///< In the order of open().
  uint64_t offset;
  void *memory; ///< Must not be touched until the transfer is complete.
  uint64_t count;
};

/// The result of a transfer. Every transfer completes exactly once, even if it
/// was cancelled or its file is dead; until then its memory belongs to the
/// device.
struct Completion {
  uint64_t id;
  /// Number of bytes, possibly fewer than requested, or a negative errno:
  /// -ECANCELED if cancel() came in time.
  int64_t result;
};

/// Properties of an open file.
struct FileFacts {
  std::string folder;
  std::string fileSystem; ///< "ext4", "tmpfs", or "0x..." if unknown.
  uint64_t device;        ///< st_dev: two folders may be on one disk.
  uint32_t alignment;     ///< Required alignment of memory, offset and count.
  bool direct;            ///< Bypasses the page cache (O_DIRECT).
  bool nameless;          ///< Never had a name (O_TMPFILE).
  bool reserved;          ///< Its space is reserved (fallocate).
  /// Why a property above does not hold; "" if all do.
  std::string limitations;
};

class Device {
public:
  virtual ~Device() = default;

  /// Returns "io_uring", "threads" or "memory".
  virtual const char *name() const = 0;
  /// Returns the features that are unavailable, and why; "" if there are none.
  /// Complete once reap() was called.
  virtual std::string limitations() const { return ""; }
  /// Creates a file in `folder` with room for `bytes` and mode 0600, which
  /// disappears with the process, however that ends. Tests it by a write and a
  /// read.
  virtual Result<FileFacts> open(const std::string &folder, uint64_t bytes) = 0;
  /// Declares memory that many transfers will use; a hint, which may do
  /// nothing. The memory must stay mapped and keep its pages (no MADV_DONTNEED)
  /// for the lifetime of the device: the kernel would continue to use the pages
  /// it knows.
  virtual void registerMemory(void *memory, uint64_t bytes) = 0;
  /// Starts transfers, in any order, without waiting.
  virtual void submit(const Transfer *transfers, size_t count) = 0;
  /// Requests that a transfer complete soon.
  virtual void cancel(uint64_t id) = 0;
  /// Waits until a transfer has completed, wake() was called or the time is
  /// `until`. Returns the number of completions stored, at most `most`.
  virtual size_t reap(Completion *completions, size_t most, uint64_t until) = 0;
  /// Ends the current call of reap(), or the next one.
  virtual void wake() = 0;
  /// Returns the time in nanoseconds of a monotonic clock.
  virtual uint64_t now() const = 0;
  /// Returns the number of transfers in progress.
  virtual size_t underWay() const = 0;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_DEVICE_H
