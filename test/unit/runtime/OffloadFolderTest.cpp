//===- OffloadFolderTest.cpp - folders, limits and kernels ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadTesting.h"
#include <csignal>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <vector>

using namespace drawloom::runtime;
using namespace drawloom::runtime::offload;

namespace {

/// What a child returns that may not do what its test needs.
const std::string cannot = "cannot ";

/// Skips by the name of what is missing, else expects no failure.
#define EXPECT_NO_FAILURE(failure)                                             \
  do {                                                                         \
    std::string text = failure;                                                \
    if (text.rfind(cannot, 0) == 0)                                            \
      GTEST_SKIP() << text;                                                    \
    EXPECT_EQ(text, "");                                                       \
  } while (false)

/// A child that sees mounts of its own, as root or as nobody special.
bool ownMounts() {
  int flags = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
  return ::unshare(flags) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class OffloadFolder : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!make())
      GTEST_SKIP() << "no " << GetParam();
  }
  std::unique_ptr<Device> make(Ways ways = {}) const {
    auto made = makeDevice(GetParam(), nullptr, ways);
    return made.ok() ? std::move(*made) : nullptr;
  }
  OwnFolder folder;
};

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

TEST_P(OffloadFolder, KeepsToTheLimitOfFiles) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    ::sigprocmask(SIG_BLOCK, &one, nullptr);
    auto device = make();
    auto facts = device->open(folder.path, 1 << 20);
    if (!facts.ok())
      return facts.message();
    rlimit limit{96 << 10, 96 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string text = refusal(*device, folder.path, 1 << 20);
    if (!contains(text, "this process may write no more than 96.00 KiB"))
      return text;
    // Lowered while the file is open: a part, then an error.
    Pages memory(65536);
    std::memset(memory.data, 1, 65536);
    for (auto [offset, wanted] :
         {std::pair<uint64_t, int64_t>{65536, 32768}, {98304, -EFBIG}}) {
      int64_t got = resultOf(
          *device, {1, Transfer::Kind::Write, 0, offset, memory.data, 65536});
      if (got != wanted)
        return std::to_string(got) + " at " + std::to_string(offset);
    }
    return "";
  }));
}

/// Memory that may not be locked is used as it is.
TEST_P(OffloadFolder, NeedsLittleLockedMemory) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    // Enough for a ring. Root may lock what it likes.
    rlimit limit{64 << 10, 64 << 10};
    if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
        (::geteuid() == 0 && (::chown(folder.path.c_str(), 65534, 65534) != 0 ||
                              ::setresuid(65534, 65534, 65534) != 0)))
      return cannot + "be another user";
    std::string why;
    auto device = makeDevice(GetParam(), &why);
    if (!device.ok())
      return cannot + "make a ring: " + device.message();
    if (auto facts = (*device)->open(folder.path, 1 << 20); !facts.ok())
      return facts.message();
    Pages memory(1 << 20);
    (*device)->registerMemory(memory.data, 1 << 20);
    for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read})
      if (resultOf(**device, {1, kind, 0, 0, memory.data, 1 << 20}) != 1 << 20)
        return "no transfer";
    std::string text = (*device)->limitations();
    return std::string(GetParam()) == "io_uring"
               ? contains(text, "ulimit -l") ? "" : "no limitation"
               : text;
  }));
}

/// Killed, a process leaves neither a name nor less space.
TEST_P(OffloadFolder, LeavesNothingBehindWhenItIsKilled) {
  constexpr uint64_t bytes = 256 << 20, piece = 1 << 20;
  auto freeBytes = [&] {
    struct statvfs info{};
    ::statvfs(folder.path.c_str(), &info);
    return static_cast<uint64_t>(info.f_bfree) * info.f_frsize;
  };
  uint64_t before = freeBytes();
  if (before < 4 * bytes)
    GTEST_SKIP() << "the disk is nearly full";
  for (bool nameless : {true, false}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t child = ::fork();
    if (child == 0) {
      Ways ways;
      ways.nameless = nameless;
      auto device = make(ways);
      if (!device->open(folder.path, bytes).ok())
        ::_exit(1);
      Pages memory(piece);
      std::memset(memory.data, 1, piece);
      for (uint64_t id = 0;; ++id) {
        Transfer transfer{id,          Transfer::Kind::Write,
                          0,           id % (bytes / piece) * piece,
                          memory.data, piece};
        device->submit(&transfer, 1);
        Completion completion;
        // Killed with some under way.
        while (device->underWay() > 8)
          device->reap(&completion, 1, UINT64_MAX);
        if (id == 20 && ::write(ends[1], "", 1) != 1)
          ::_exit(1);
      }
    }
    ::close(ends[1]);
    char ready;
    EXPECT_EQ(::read(ends[0], &ready, 1), 1);
    ::close(ends[0]);
    // Whatever else this machine writes meanwhile is less than half of it.
    EXPECT_LT(freeBytes(), before - bytes / 2);
    ::kill(child, SIGKILL);
    uint64_t killed = nanoseconds();
    ::waitpid(child, nullptr, 0);
    while (freeBytes() < before - bytes / 2 && nanoseconds() < killed + second)
      ::usleep(10000);
    EXPECT_GE(freeBytes(), before - bytes / 2);
    DIR *names = ::opendir(folder.path.c_str());
    int count = 0;
    while (::readdir(names))
      ++count;
    ::closedir(names);
    EXPECT_EQ(count, 2) << "more than . and ..";
  }
}

/// A frozen file system answers no write: as a disk that hangs.
TEST_P(OffloadFolder, WaitsForNoDiskThatHangs) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    std::string disk = folder.path + "/disk", image = disk + ".ext4";
    // Memory holds the image, so that nothing of it is left.
    if (::geteuid() != 0 || !ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, nullptr) != 0 ||
        ::mkdir(disk.c_str(), 0700) != 0 ||
        std::system(("truncate -s 64M " + image + " && mkfs.ext4 -q -F " +
                     image + " && mount -o loop " + image + " " + disk +
                     " 2>/dev/null")
                        .c_str()) != 0)
      return cannot + "mount an ext4 file system";
    auto device = make();
    for (const std::string &path : {disk, testing::TempDir()})
      if (auto facts = device->open(path, 32 << 20); !facts.ok())
        return facts.message();
    int root = ::open(disk.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (::ioctl(root, FIFREEZE, 0) != 0)
      return cannot + "freeze a file system";

    // Of what hangs the memory is never free again.
    Pages &memory = *new Pages(1 << 20);
    std::memset(memory.data, 1, 1 << 20);
    std::string failure;
    constexpr uint64_t many = 100;
    for (uint64_t id = 0; id < many; ++id) {
      Transfer transfer{
          id, Transfer::Kind::Write, 0, id % 32 << 20, memory.data, 1 << 20};
      device->submit(&transfer, 1);
    }
    int64_t other = resultOf(
        *device, {many, Transfer::Kind::Write, 1, 0, memory.data, 1 << 20});
    if (other != 1 << 20)
      failure = "the other disk: " + std::to_string(other);
    uint64_t begin = nanoseconds();
    Completion completions[8];
    if (size_t got = device->reap(completions, 8, begin + second / 10))
      failure = std::to_string(got) + " came back";
    if (nanoseconds() > begin + 5 * second)
      failure = "reap() took long";
    // What has not begun can be had back.
    device->cancel(many - 1);
    if (device->reap(completions, 8, nanoseconds() + 5 * second) != 1 ||
        completions[0].id != many - 1 || completions[0].result != -ECANCELED)
      failure = "cancel() did nothing";
    begin = nanoseconds();
    device.reset();
    if (nanoseconds() > begin + 10 * second)
      failure = "the end took long";
    ::ioctl(root, FITHAW, 0);
    ::close(root);
    return failure;
  }));
}

INSTANTIATE_TEST_SUITE_P(All, OffloadFolder,
                         testing::Values("io_uring", "threads"));

/// Sandboxes refuse io_uring in these ways.
TEST(OffloadDevices, DoWithoutARing) {
  if (!makeDevice("io_uring", nullptr).ok())
    GTEST_SKIP() << "no io_uring";
  for (auto [code, words] : {std::pair{EPERM, "a sandbox (seccomp)"},
                             {ENOSYS, "the kernel has none"},
                             {ENOMEM, "limit of locked memory"},
                             {EINVAL, "Invalid argument"}}) {
    EXPECT_NO_FAILURE(inChild([code = code, words = words]() -> std::string {
      sock_filter rules[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
          BPF_STMT(BPF_RET | BPF_K,
                   SECCOMP_RET_ERRNO | static_cast<unsigned>(code)),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      sock_fprog program{4, rules};
      if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
          ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return cannot + "forbid io_uring";
      std::string why;
      auto made = makeDevice("", &why);
      if (!made.ok() || std::string((*made)->name()) != "threads" ||
          !contains(why, words))
        return "fell back to nothing: " + why;
      made = makeDevice("io_uring", nullptr);
      return !made.ok() && contains(made.message(), words) &&
                     contains(made.message(), "; ask for 'threads'")
                 ? ""
                 : made.message();
    }));
  }
}

/// Linux before 6.1 knows no ring of one thread's own.
TEST(OffloadDevices, DoWithoutARingOfTheirOwn) {
  Ways ways;
  ways.single = ways.pinned = false;
  auto made = makeDevice("io_uring", nullptr, ways);
  if (!made.ok())
    GTEST_SKIP() << made.message();
  ASSERT_TRUE((*made)->open(testing::TempDir(), 1 << 20).ok());
  Pages memory(1 << 20);
  (*made)->registerMemory(memory.data, 1 << 20);
  for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read})
    EXPECT_EQ(resultOf(**made, {1, kind, 0, 0, memory.data, 1 << 20}), 1 << 20);
  EXPECT_TRUE(contains((*made)->limitations(), "is not one thread's own"));
}

} // namespace
