//===- OffloadProcessTest.cpp - limits, sandboxes, ends of processes ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadTesting.h"
#include "runtime/offload/Store.h"
#include <csignal>
#include <cstddef>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

using namespace drawloom::runtime;
using namespace drawloom::runtime::offload;

namespace {

class OffloadProcess : public OffloadFolder {};

TEST_P(OffloadProcess, KeepsToTheLimitOfFiles) {
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
TEST_P(OffloadProcess, NeedsLittleLockedMemory) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    // Enough for rings. Root may lock what it likes.
    rlimit limit{256 << 10, 256 << 10};
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
    if (std::string(GetParam()) != "io_uring")
      return text;
    if (!contains(text, "ulimit -l"))
      return "no limitation";
    device->reset();
    // A store says so before anything was put.
    StoreOptions options;
    options.folders = {folder.path};
    options.capacity = 4 << 20;
    options.device = GetParam();
    auto store = Store::open(options);
    if (!store.ok())
      return store.message();
    text = (*store)->report();
    if (Status closed = Store::close(std::move(*store), -1); !closed.ok())
      return closed.message();
    return contains(text, "memory is not registered with the kernel") ? ""
                                                                      : text;
  }));
}

uint64_t freeBytes(const std::string &folder) {
  struct statvfs info{};
  ::statvfs(folder.c_str(), &info);
  return static_cast<uint64_t>(info.f_bfree) * info.f_frsize;
}

/// Kills a process that has transfers under way in a folder that nobody else
/// uses. Why something of it is left, or "".
template <typename Make>
std::string leftBehind(const std::string &folder, Make make) {
  constexpr uint64_t bytes = 32 << 20, piece = 1 << 20;
  int ends[2];
  if (::pipe(ends) != 0)
    return "no pipe";
  pid_t child = ::fork();
  if (child == 0) {
    auto device = make();
    if (!device->open(folder, bytes).ok())
      ::_exit(1);
    Pages memory(piece);
    std::memset(memory.data, 1, piece);
    for (uint64_t id = 0;; ++id) {
      Transfer transfer{id,          Transfer::Kind::Write,
                        0,           id % (bytes / piece) * piece,
                        memory.data, piece};
      device->submit(&transfer, 1);
      Completion completion;
      while (device->underWay() > 8)
        device->reap(&completion, 1, UINT64_MAX);
      if (id == 20 && ::write(ends[1], "", 1) != 1)
        ::_exit(1);
    }
  }
  ::close(ends[1]);
  char ready;
  bool isReady = ::read(ends[0], &ready, 1) == 1;
  ::close(ends[0]);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  // It can be removed only where there is no name in it.
  return !isReady                       ? "the process did not begin"
         : ::rmdir(folder.c_str()) != 0 ? "there is a name"
                                        : "";
}

TEST_P(OffloadProcess, LeavesNoNameWhenItIsKilled) {
  for (bool nameless : {true, false}) {
    OwnFolder own;
    Ways ways;
    ways.nameless = nameless;
    EXPECT_EQ(leftBehind(own.path, [&] { return make(ways); }), "");
  }
}

TEST_P(OffloadProcess, LeavesAllSpaceWhenItIsKilled) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, "size=64m") != 0)
      return cannot + "mount";
    std::string used = folder.path + "/used";
    ::mkdir(used.c_str(), 0700);
    uint64_t before = freeBytes(folder.path);
    std::string failure = leftBehind(used, [&] { return make(); });
    uint64_t killed = nanoseconds();
    while (freeBytes(folder.path) < before && nanoseconds() < killed + second)
      ::usleep(10000);
    if (freeBytes(folder.path) < before)
      failure = "space is gone";
    return failure;
  }));
}

/// Who closes a store and opens another one has room for it.
TEST_P(OffloadProcess, LeavesAllSpaceWhenItEnds) {
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, "size=64m") != 0)
      return cannot + "mount";
    uint64_t before = freeBytes(folder.path);
    Pages memory(1 << 20);
    for (int i = 0; i < 3; ++i) {
      auto device = make();
      if (auto facts = device->open(folder.path, 40 << 20); !facts.ok())
        return facts.message();
      for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read})
        if (resultOf(*device, {1, kind, 0, 0, memory.data, 1 << 20}) != 1 << 20)
          return "no transfer";
      device.reset();
      if (freeBytes(folder.path) < before)
        return "space is not free yet";
    }
    return "";
  }));
}

/// A step with a store in a process of its own: puts of twelve records, which
/// are more than its memory, and gets. Gives the status of its end.
int statusOfAStep(const std::string &folder, const char *device,
                  const std::string &faults) {
  pid_t child = ::fork();
  if (child != 0) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
  ::alarm(20); // A hang is a failure, not a test that never ends.
  StoreOptions options;
  options.folders = {folder};
  options.capacity = 24 << 20;
  options.memory = 8 << 20;
  options.device = device;
  options.faults = faults;
  auto store = Store::open(options);
  if (!store.ok())
    ::_exit(1);
  constexpr size_t records = 12, size = (1 << 20) - 1000;
  std::vector<char> bytes(size), found(size);
  std::string why;
  RecordId ids[records] = {};
  auto expect = [](bool isRight) {
    if (!isRight)
      ::_exit(2);
  };
  for (size_t i = 0; i < records; ++i) {
    std::fill(bytes.begin(), bytes.end(), static_cast<char>(i + 1));
    expect((*store)->put(bytes.data(), size, "layer", records - i, i % 4 == 0,
                         -1, ids[i], why) == Outcome::Ready);
  }
  expect((*store)->finish(-1, why) == Outcome::Ready);
  for (size_t i = records; i-- > 0;) {
    uint64_t progress = 0;
    std::fill(bytes.begin(), bytes.end(), static_cast<char>(i + 1));
    expect((*store)->get(ids[i], found.data(), -1, progress, why) ==
           Outcome::Ready);
    expect(found == bytes);
    expect((*store)->drop(ids[i], why) == Outcome::Ready);
  }
  ::_exit(Store::close(std::move(*store), -1).ok() ? 0 : 3);
}

/// Killed when the file is opened, and at each transfer of a step.
TEST_P(OffloadProcess, LeavesNothingAtWhicheverTransferItIsKilled) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes no new threads after a fork";
#endif
  EXPECT_NO_FAILURE(inChild([&]() -> std::string {
    if (!ownMounts() ||
        ::mount("none", folder.path.c_str(), "tmpfs", 0, "size=64m") != 0)
      return cannot + "mount";
    std::string used = folder.path + "/used";
    ::mkdir(used.c_str(), 0700);
    uint64_t before = freeBytes(folder.path);
    for (int nth = 0;; ++nth) {
      std::string faults = nth == 0 ? "op=open;do=kill"
                                    : "nth=" + std::to_string(nth) + ";do=kill";
      int status = statusOfAStep(used, GetParam(), faults);
      uint64_t end = nanoseconds() + second;
      while (freeBytes(folder.path) < before && nanoseconds() < end)
        ::usleep(1000);
      if (freeBytes(folder.path) < before)
        return faults + ": space is gone";
      // It can be removed only where there is no name in it.
      if (::rmdir(used.c_str()) != 0 || ::mkdir(used.c_str(), 0700) != 0)
        return faults + ": there is a name";
      // 12 writes, of 3 persistent ones a read each, and reads of what memory
      // does not have any more.
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return nth > 18 ? "" : "there are no more transfers than " + faults;
      if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        return faults + ": it ended with " + std::to_string(status);
    }
  }));
}

/// A frozen file system answers no write: as a disk that hangs.
TEST_P(OffloadProcess, WaitsForNoDiskThatHangs) {
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
    if (nanoseconds() > begin + second)
      failure = "the end took long";
    ::ioctl(root, FITHAW, 0);
    ::close(root);
    return failure;
  }));
}

INSTANTIATE_TEST_SUITE_P(All, OffloadProcess,
                         testing::Values("io_uring", "threads"));

/// Makes a call of the system fail, for the rest of this process; with
/// `spared`, but where that is its second argument.
bool forbid(unsigned call, int code, unsigned spared = UINT32_MAX) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, spared, 1, 0),
      BPF_STMT(BPF_RET | BPF_K,
               SECCOMP_RET_ERRNO | static_cast<unsigned>(code)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{6, rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Sandboxes refuse io_uring in these ways.
TEST(OffloadDevices, DoWithoutARing) {
  if (!makeDevice("io_uring", nullptr).ok())
    GTEST_SKIP() << "no io_uring";
  for (auto [code, words] : {std::pair{EPERM, "a sandbox (seccomp)"},
                             {ENOSYS, "the kernel has none"},
                             {ENOMEM, "limit of locked memory"},
                             {EINVAL, "Invalid argument"}}) {
    EXPECT_NO_FAILURE(inChild([code = code, words = words]() -> std::string {
      if (!forbid(SYS_io_uring_setup, code))
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

/// Others give rings, and forbid to register anything with them: all, which a
/// ring cannot begin without, or what costs time alone.
TEST(OffloadDevices, DoWithoutRegistering) {
  if (!makeDevice("io_uring", nullptr).ok())
    GTEST_SKIP() << "no io_uring";
  EXPECT_NO_FAILURE(inChild([]() -> std::string {
    if (!forbid(SYS_io_uring_register, EPERM))
      return cannot + "forbid io_uring";
    std::string why;
    auto made = makeDevice("", &why);
    return made.ok() && std::string((*made)->name()) == "threads" &&
                   contains(why, "a sandbox (seccomp)")
               ? ""
               : "fell back to nothing: " + why;
  }));
  EXPECT_NO_FAILURE(inChild([]() -> std::string {
    constexpr unsigned enableRings = 12; // IORING_REGISTER_ENABLE_RINGS
    if (!forbid(SYS_io_uring_register, EPERM, enableRings))
      return cannot + "forbid io_uring";
    auto made = makeDevice("io_uring", nullptr);
    if (!made.ok())
      return made.message();
    if (auto facts = (*made)->open(testing::TempDir(), 1 << 20); !facts.ok())
      return facts.message();
    Pages memory(1 << 20);
    (*made)->registerMemory(memory.data, 1 << 20);
    for (auto kind : {Transfer::Kind::Write, Transfer::Kind::Read})
      if (resultOf(**made, {1, kind, 0, 0, memory.data, 1 << 20}) != 1 << 20)
        return "no transfer";
    std::string text = (*made)->limitations();
    return contains(text, "memory is not registered with the kernel "
                          "(Operation not permitted")
               ? ""
               : text;
  }));
}

/// A process that was stopped for longer than a transfer may take blames no
/// disk for it.
TEST(OffloadStores, OutliveAStop) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes no new threads after a fork";
#endif
  for (bool stopped : {true, false}) {
    OwnFolder folder;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20); // A hang is a failure, not a test that never ends.
      StoreOptions options;
      options.folders = {folder.path};
      options.capacity = 4 << 20;
      options.timeout = second / 2;
      options.device = "threads";
      options.faults = "op=write;nth=1;do=delay 2200000";
      auto store = Store::open(options);
      std::string bytes(1 << 20, 'x'), why;
      RecordId id;
      bool put =
          store.ok() && (*store)->put(bytes.data(), bytes.size(), "x", 0, false,
                                      -1, id, why) == Outcome::Ready;
      if (!put || ::write(ends[1], "", 1) != 1)
        ::_exit(2);
      ::_exit((*store)->finish(-1, why) == Outcome::Ready ? 0 : 1);
    }
    char begun;
    ASSERT_EQ(::read(ends[0], &begun, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
    if (stopped) {
      ::usleep(100'000);
      ::kill(child, SIGSTOP);
      ::usleep(1'900'000);
      ::kill(child, SIGCONT);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), stopped ? 0 : 1);
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
