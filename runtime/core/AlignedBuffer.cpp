//===- AlignedBuffer.cpp - memory whose absence is a value ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/Abi.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>

namespace drawloom::runtime {

AlignedBuffer::~AlignedBuffer() { std::free(memory); }

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

/// The first number behind `key` in a file of such lines, or that is the file;
/// -1 where there is none ("max").
static int64_t numberIn(const std::string &path, const char *key = "") {
  std::ifstream file(path);
  std::string line;
  std::string_view wanted = key;
  while (std::getline(file, line))
    if (line.compare(0, wanted.size(), wanted) == 0) {
      long long number;
      return std::sscanf(line.c_str() + wanted.size(), "%lld", &number) == 1
                 ? number
                 : -1;
    }
  return -1;
}

/// What a group leaves: its limit without what is in use. Files that are in
/// memory because there was room go first when it gets scarce.
static int64_t leftOf(const std::string &group, const char *limitFile,
                      const char *usageFile, const char *cacheKey) {
  int64_t limit = numberIn(group + limitFile);
  int64_t usage = numberIn(group + usageFile);
  if (limit < 0 || usage < 0)
    return unlimited;
  int64_t cache =
      std::max<int64_t>(numberIn(group + "/memory.stat", cacheKey), 0);
  return std::max<int64_t>(limit - std::max<int64_t>(usage - cache, 0), 0);
}

/// Of a group and all around it, up to the mount.
static int64_t leftAround(const std::string &mount, std::string group,
                          const char *limitFile, const char *usageFile,
                          const char *cacheKey) {
  int64_t left = unlimited;
  // A container may see the path that its group has outside of it, of which
  // nothing is mounted here: what is there counts.
  while (!group.empty() && group.back() == '/')
    group.pop_back();
  for (;;) {
    left =
        std::min(left, leftOf(mount + group, limitFile, usageFile, cacheKey));
    size_t parent = group.rfind('/');
    if (parent == std::string::npos)
      return left;
    group.resize(parent);
  }
}

/// The lines of /proc/self/cgroup: "0::/group" for version 2,
/// "7:memory,cpu:/group" for version 1.
static int64_t leftByGroups(const std::string &root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  int64_t left = unlimited;
  while (std::getline(groups, line)) {
    size_t first = line.find(':');
    size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string group = line.substr(second + 1);
    std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",,") {
      // Beside version 1, version 2 is mounted below it.
      for (const char *mount : {"", "/unified"})
        left = std::min(left, leftAround(mounts + mount, group, "/memory.max",
                                         "/memory.current", "inactive_file "));
    } else if (controllers.find(",memory,") != std::string::npos) {
      left = std::min(
          left, leftAround(mounts + "/memory", group, "/memory.limit_in_bytes",
                           "/memory.usage_in_bytes", "total_inactive_file "));
    }
  }
  return left;
}

int64_t availableMemory(const std::string &root) {
  int64_t kibibytes = numberIn(root + "/proc/meminfo", "MemAvailable:");
  int64_t machine = kibibytes < 0 ? unlimited : kibibytes * 1024;
  return std::min(machine, leftByGroups(root));
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
