//===- AlignedBuffer.cpp - memory whose absence is a value ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/Abi.h"
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace drawloom::runtime {

AlignedBuffer::~AlignedBuffer() { std::free(memory); }

int64_t availableMemory() {
  std::FILE *file = std::fopen("/proc/meminfo", "r");
  long long kibibytes = -1;
  char line[128];
  while (file && kibibytes < 0 && std::fgets(line, sizeof(line), file))
    std::sscanf(line, "MemAvailable: %lld", &kibibytes);
  if (file)
    std::fclose(file);
  return kibibytes < 0 ? std::numeric_limits<int64_t>::max()
                       : static_cast<int64_t>(kibibytes) * 1024;
}

std::optional<AlignedBuffer> AlignedBuffer::allocate(int64_t bytes) {
  constexpr int64_t alignment = DRAWLOOM_ALIGNMENT;
  if (bytes < 0 ||
      bytes > std::numeric_limits<std::ptrdiff_t>::max() - alignment)
    return std::nullopt;
  // aligned_alloc wants a multiple of the alignment, and one for 0 bytes.
  int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded == 0)
    rounded = alignment;
  // The system promises memory that it does not have and kills the process when
  // it is used. Small buffers are not worth the question.
  constexpr int64_t large = int64_t(1) << 26;
  if (rounded >= large && rounded > availableMemory())
    return std::nullopt;
  AlignedBuffer buffer;
  buffer.memory = std::aligned_alloc(alignment, static_cast<size_t>(rounded));
  if (!buffer.memory)
    return std::nullopt;
  buffer.bytes = bytes;
  return buffer;
}

} // namespace drawloom::runtime
