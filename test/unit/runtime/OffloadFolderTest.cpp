//===- OffloadFolderTest.cpp - folders, limits and kernels ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadTesting.h"
#include <sys/stat.h>
#include <sys/statvfs.h>

using namespace drawloom::runtime;
using namespace drawloom::runtime::offload;

namespace {

TEST_P(OffloadFolder, SaysWhatItIs) {
  auto facts = make()->open(folder.path, 1 << 20);
  ASSERT_TRUE(facts.ok()) << facts.message();
  struct stat info;
  ASSERT_EQ(::stat(folder.path.c_str(), &info), 0);
  EXPECT_EQ(facts->folder, folder.path);
  EXPECT_EQ(facts->device, info.st_dev);
  EXPECT_FALSE(facts->fileSystem.empty());
  EXPECT_GE(facts->alignment, 1u);
  if (facts->direct && facts->nameless && facts->reserved &&
      (facts->fileSystem == "ext4" || facts->fileSystem == "xfs")) {
    EXPECT_EQ(facts->limitations, "");
  }
}

TEST_P(OffloadFolder, SaysWhatItDoesWithout) {
  Ways ways;
  ways.nameless = ways.direct = ways.reserve = false;
  auto device = make(ways);
  auto facts = device->open(folder.path, 1 << 20);
  ASSERT_TRUE(facts.ok()) << facts.message();
  EXPECT_FALSE(facts->nameless || facts->direct || facts->reserved);
  for (const char *part : {"O_TMPFILE", "O_DIRECT", "fallocate"})
    EXPECT_TRUE(contains(facts->limitations, part)) << facts->limitations;
  // The name that it had is gone.
  EXPECT_EQ(::rmdir(folder.path.c_str()), 0);
  Pages memory(65536);
  EXPECT_EQ(resultOf(*device,
                     {1, Transfer::Kind::Write, 0, 4096, memory.data, 65536}),
            65536);
}

TEST_P(OffloadFolder, OthersMayNotRead) {
  for (bool nameless : {true, false}) {
    Ways ways;
    ways.nameless = nameless;
    auto file = File::open(folder.path, 4096, ways);
    ASSERT_TRUE(file.ok()) << file.message();
    struct stat info;
    ASSERT_EQ(::fstat(file->descriptor(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(info.st_nlink, 0u);
    EXPECT_TRUE(::fcntl(file->descriptor(), F_GETFD) & FD_CLOEXEC);
  }
}

TEST_P(OffloadFolder, RefusesWhatIsNoFolder) {
  auto device = make();
  std::string missing = folder.path + "/missing", file = folder.path + "/file";
  EXPECT_EQ(refusal(*device, missing, 1),
            "'" + missing +
                "' cannot take what is offloaded: it is not there; make it, or "
                "name another folder");
  ::close(::open(file.c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(refusal(*device, file, 1),
            "'" + file +
                "' cannot take what is offloaded: it is no folder; name one");
  ::unlink(file.c_str());
  EXPECT_EQ(refusal(*device, "", 1),
            "what is offloaded goes to a folder, but its name is empty; name "
            "one");
}

TEST_P(OffloadFolder, RefusesMoreThanThereIs) {
  auto device = make();
  struct statvfs info;
  ASSERT_EQ(::statvfs(folder.path.c_str(), &info), 0);
  uint64_t much = 2 * info.f_blocks * info.f_frsize;
  std::string text = refusal(*device, folder.path, much);
  for (const std::string &part :
       {"'" + folder.path + "'", inWords(much) + " were asked for, but only ",
        std::string("are free; ask for less, free some")})
    EXPECT_TRUE(contains(text, part)) << text;
  text = refusal(*device, folder.path, UINT64_MAX);
  EXPECT_TRUE(contains(text, "are more than a file holds")) << text;
}

TEST_P(OffloadFolder, RefusesWhereItMayNotWrite) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0)
      return cannot + "be another user";
    ::chmod(folder.path.c_str(), 0500);
    std::string text = refusal(*make(), folder.path, 1);
    ::chmod(folder.path.c_str(), 0700);
    return contains(text, "may not write to it; name a folder of this user")
               ? ""
               : text;
  }));
}

TEST_P(OffloadFolder, RefusesReadOnlyFileSystems) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", MS_RDONLY, nullptr) != 0)
      return cannot + "mount";
    std::string text = refusal(*make(), folder.path, 1);
    return contains(text, "its file system is read-only") ? "" : text;
  }));
}

/// tmpfs is memory, which the facts say. Full, it takes a part, then none.
TEST_P(OffloadFolder, SaysThatItIsFull) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, "size=1m") != 0)
      return cannot + "mount";
    auto device = make();
    std::string text = refusal(*device, folder.path, 8 << 20);
    if (!contains(text, "8.00 MiB were asked for, but only 1.00 MiB"))
      return text;
    // As on volumes that promise more than they have.
    Ways ways;
    ways.reserve = false;
    device = make(ways);
    auto facts = device->open(folder.path, 1 << 20);
    if (!facts.ok())
      return facts.message();
    if (facts->fileSystem != "tmpfs" ||
        !contains(facts->limitations, "are in memory"))
      return facts->fileSystem + ": " + facts->limitations;
    std::string other = folder.path + "/other";
    int taken = ::open(other.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (::fallocate(taken, 0, 0, 512 << 10) != 0)
      return cannot + "take space from tmpfs";
    Pages memory(1 << 20);
    std::memset(memory.data, 1, 1 << 20);
    int64_t total = 0, result = 0;
    for (uint64_t id = 0; total < 1 << 20; ++id, total += result) {
      result = resultOf(*device, {id, Transfer::Kind::Write, 0,
                                  static_cast<uint64_t>(total), memory.data,
                                  (1 << 20) - static_cast<uint64_t>(total)});
      if (result <= 0)
        break;
    }
    return result == -ENOSPC && total <= 512 << 10
               ? ""
               : std::to_string(total) + " bytes, then " +
                     std::to_string(result);
  }));
}

/// The space of a process that has ended comes back a little later.
TEST_P(OffloadFolder, WaitsForSpaceThatIsAboutToBeFree) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, "size=4m") != 0)
      return cannot + "mount";
    int ends[2];
    if (::pipe(ends) != 0)
      return "no pipe";
    pid_t child = ::fork();
    if (child == 0) {
      auto file = File::open(folder.path, 3 << 20);
      if (!file.ok() || ::write(ends[1], "", 1) != 1)
        ::_exit(1);
      ::usleep(50'000);
      ::_exit(0);
    }
    char begun;
    ::close(ends[1]);
    if (::read(ends[0], &begun, 1) != 1)
      return "the other process did not begin";
    ::close(ends[0]);
    std::string text = refusal(*make(), folder.path, 3 << 20);
    ::waitpid(child, nullptr, 0);
    return text == "it is open" ? "" : text;
  }));
}

/// Neither O_DIRECT nor fallocate.
TEST_P(OffloadFolder, WorksWithoutWhatAFileSystemLacks) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "ramfs", 0, nullptr) != 0)
      return cannot + "mount";
    auto device = make();
    auto facts = device->open(folder.path, 1 << 20);
    if (!facts.ok())
      return facts.message();
    if (facts->direct || facts->reserved)
      return "ramfs has become better";
    Pages memory(1 << 20);
    for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read})
      if (resultOf(*device, {1, kind, 0, 0, memory.data, 1 << 20}) != 1 << 20)
        return "no transfer";
    return "";
  }));
}

INSTANTIATE_TEST_SUITE_P(All, OffloadFolder,
                         testing::Values("io_uring", "threads"));

} // namespace
