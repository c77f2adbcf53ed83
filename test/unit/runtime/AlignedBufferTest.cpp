//===- AlignedBufferTest.cpp - memory whose absence is a value ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/Abi.h"
#include "gtest/gtest.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

using drawloom::runtime::AlignedBuffer;
using drawloom::runtime::availableMemory;

namespace {
constexpr int64_t gibi = int64_t(1) << 30;

/// A folder with what a machine with 8 GiB of memory to give shows of itself.
class AvailableMemory : public testing::Test {
protected:
  AvailableMemory() {
    std::string name = testing::TempDir() + "/memory-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    write("proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 1 kB\n"
                          "MemAvailable: 8388608 kB\nBuffers: 2 kB\n");
  }
  ~AvailableMemory() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &contents) const {
    std::filesystem::path file = root + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << contents;
  }
  void group2(const std::string &name, const std::string &most,
              int64_t used) const {
    write("sys/fs/cgroup" + name + "/memory.max", most + "\n");
    write("sys/fs/cgroup" + name + "/memory.current",
          std::to_string(used) + "\n");
  }
  void group1(const std::string &name, int64_t most, int64_t used) const {
    write("sys/fs/cgroup/memory" + name + "/memory.limit_in_bytes",
          std::to_string(most) + "\n");
    write("sys/fs/cgroup/memory" + name + "/memory.usage_in_bytes",
          std::to_string(used) + "\n");
  }

  std::string root;
};
} // namespace

TEST_F(AvailableMemory, IsTheMachinesWithoutGroups) {
  EXPECT_EQ(availableMemory(root), 8 * gibi);
  EXPECT_EQ(availableMemory(root + "/none"),
            std::numeric_limits<int64_t>::max());
}

TEST_F(AvailableMemory, IsWhatAGroupOfVersion2Leaves) {
  write("proc/self/cgroup", "0::/user/job\n");
  group2("/user/job", std::to_string(3 * gibi), gibi);
  EXPECT_EQ(availableMemory(root), 2 * gibi);
  // Copies of files give way.
  write("sys/fs/cgroup/user/job/memory.stat",
        "anon 1\nactive_file 3\ninactive_file " + std::to_string(gibi / 2) +
            "\n");
  EXPECT_EQ(availableMemory(root), 2 * gibi + gibi / 2);
  group2("/user/job", std::to_string(gibi), 2 * gibi);
  EXPECT_EQ(availableMemory(root), 0);
}

TEST_F(AvailableMemory, IsBoundByTheGroupsAround) {
  write("proc/self/cgroup", "0::/user/job\n");
  group2("/user/job", "max", gibi);
  EXPECT_EQ(availableMemory(root), 8 * gibi);
  group2("/user", std::to_string(5 * gibi), gibi);
  EXPECT_EQ(availableMemory(root), 4 * gibi);
  // In a container, the mount is the group.
  group2("", std::to_string(2 * gibi), gibi);
  EXPECT_EQ(availableMemory(root), gibi);
}

TEST_F(AvailableMemory, IsWhatAGroupOfVersion1Leaves) {
  write("proc/self/cgroup",
        "9:name=systemd:/\n7:cpu,memory:/docker/x\n4:pids:/\n0::/\n");
  group1("/docker/x", 3 * gibi, gibi);
  EXPECT_EQ(availableMemory(root), 2 * gibi);
  write("sys/fs/cgroup/memory/docker/x/memory.stat",
        "inactive_file 7\ntotal_inactive_file " + std::to_string(gibi) + "\n");
  EXPECT_EQ(availableMemory(root), 3 * gibi);
  group1("/docker", gibi, 0);
  EXPECT_EQ(availableMemory(root), gibi);
  // Nobody set a limit.
  group1("/docker", 9223372036854771712, 0);
  EXPECT_EQ(availableMemory(root), 3 * gibi);
}

TEST(AlignedBuffer, IsAlignedAndWritable) {
  for (int64_t bytes : {1, 63, 64, 65, 4097}) {
    auto buffer = AlignedBuffer::allocate(bytes);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % DRAWLOOM_ALIGNMENT,
              0u);
    EXPECT_EQ(buffer->size(), bytes);
    std::memset(buffer->data(), 1, bytes);
  }
}

TEST(AlignedBuffer, HasAnAddressForNoBytes) {
  auto buffer = AlignedBuffer::allocate(0);
  ASSERT_TRUE(buffer);
  EXPECT_NE(buffer->data(), nullptr);
  EXPECT_EQ(buffer->size(), 0);
}

TEST(AlignedBuffer, RefusesWhatNoMachineHas) {
  EXPECT_FALSE(AlignedBuffer::allocate(-1));
  EXPECT_FALSE(AlignedBuffer::allocate(std::numeric_limits<int64_t>::max()));
}

TEST(AlignedBuffer, MovesItsMemory) {
  auto first = AlignedBuffer::allocate(8);
  ASSERT_TRUE(first);
  void *address = first->data();
  AlignedBuffer second = std::move(*first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(first->data(), nullptr);
}
