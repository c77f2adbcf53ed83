//===- AlignedBuffer.h - memory whose absence is a value --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_ALIGNEDBUFFER_H
#define DRAWLOOM_RUNTIME_ALIGNEDBUFFER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace drawloom::runtime {

/// Uninitialized memory, aligned to DRAWLOOM_ALIGNMENT.
class AlignedBuffer {
public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)),
        bytes(std::exchange(other.bytes, 0)) {}
  AlignedBuffer &operator=(AlignedBuffer &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(bytes, other.bytes);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer &) = delete;
  AlignedBuffer &operator=(const AlignedBuffer &) = delete;
  ~AlignedBuffer();

  /// Returns nothing if `bytes` is negative or the system cannot provide that
  /// much without running out of memory. A buffer of 0 bytes still has an
  /// address.
  static std::optional<AlignedBuffer> allocate(int64_t bytes);

  void *data() const { return memory; }
  int64_t size() const { return bytes; }

private:
  void *memory = nullptr;
  int64_t bytes = 0;
};

/// Returns the bytes that the machine can provide before it swaps or kills
/// processes: the available memory, limited by the control groups of this
/// process (Linux, versions 1 and 2, including enclosing ones). Returns the
/// largest int64 if nothing is known. `root` is the folder that contains /proc
/// and /sys/fs/cgroup.
int64_t availableMemory(const std::string &root = "");

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_ALIGNEDBUFFER_H
