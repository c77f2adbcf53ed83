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

/// Uninitialised memory, aligned to DRAWLOOM_ALIGNMENT.
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

  /// Nothing where the system has no `bytes` bytes to give without running out
  /// of memory, or where the count is negative. A buffer of no bytes has an
  /// address all the same.
  static std::optional<AlignedBuffer> allocate(int64_t bytes);

  void *data() const { return memory; }
  int64_t size() const { return bytes; }

private:
  void *memory = nullptr;
  int64_t bytes = 0;
};

/// Bytes that the machine can give before it swaps or kills: what it has, and
/// what the control groups of this process (Linux's, versions 1 and 2, and
/// those around them) leave. The largest int64 where nothing tells. `root` is
/// the folder that /proc and /sys/fs/cgroup are in.
int64_t availableMemory(const std::string &root = "");

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_ALIGNEDBUFFER_H
