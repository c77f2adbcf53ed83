//===- OffloadTesting.h - what tests of devices share ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_UNIT_RUNTIME_OFFLOADTESTING_H
#define DRAWLOOM_TEST_UNIT_RUNTIME_OFFLOADTESTING_H

#include "runtime/offload/Devices.h"
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drawloom::runtime::offload {

constexpr uint64_t second = 1'000'000'000;

/// A folder that is gone with what is in it.
class OwnFolder {
public:
  OwnFolder() : path(testing::TempDir() + "drawloom-offload-XXXXXX") {
    if (!::mkdtemp(path.data()))
      ADD_FAILURE() << path << ": " << std::strerror(errno);
  }
  OwnFolder(const OwnFolder &) = delete;
  ~OwnFolder() { ::rmdir(path.c_str()); }
  std::string path;
};

/// Memory that lies as direct transfers want it.
class Pages {
public:
  explicit Pages(size_t bytes)
      : data(static_cast<unsigned char *>(
            std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096))) {}
  Pages(const Pages &) = delete;
  ~Pages() { std::free(data); }
  unsigned char *data;
};

/// The message of a device's open().
inline std::string refusal(Device &device, const std::string &folder,
                           uint64_t bytes) {
  Result<FileFacts> facts = device.open(folder, bytes);
  return facts.ok() ? "it is open" : facts.message();
}

/// What becomes of a single transfer.
inline int64_t resultOf(Device &device, const Transfer &transfer) {
  device.submit(&transfer, 1);
  Completion completion{};
  for (uint64_t until = device.now() + 10 * second; device.now() < until;)
    if (device.reap(&completion, 1, until) == 1)
      return completion.id == transfer.id ? completion.result : -EBADE;
  return -ETIME;
}

/// Runs something in a child, whose limits and rights may be changed. What it
/// returns: why it failed, or "".
template <typename Body> std::string inChild(Body body) {
  int ends[2];
  if (::pipe(ends) != 0)
    return "no pipe";
  pid_t child = ::fork();
  if (child == 0) {
    std::string failure = body();
    ssize_t written = ::write(ends[1], failure.data(), failure.size());
    ::_exit(written == static_cast<ssize_t>(failure.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string failure;
  char text[512];
  for (ssize_t got; (got = ::read(ends[0], text, sizeof(text))) > 0;)
    failure.append(text, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 || !failure.empty()
             ? failure
             : "the child ended with status " + std::to_string(status);
}

/// What a child returns that may not do what its test needs.
inline const std::string cannot = "cannot ";

/// Skips by the name of what is missing, else expects no failure.
#define EXPECT_NO_FAILURE(failure)                                             \
  do {                                                                         \
    std::string text = failure;                                                \
    if (text.rfind(cannot, 0) == 0)                                            \
      GTEST_SKIP() << text;                                                    \
    EXPECT_EQ(text, "");                                                       \
  } while (false)

/// Lets a child have mounts of its own: as root, or where users may have a
/// namespace, in which they stay who they are.
inline bool ownMounts() {
  auto map = [](const char *path, const std::string &text) {
    int file = ::open(path, O_WRONLY | O_CLOEXEC);
    bool done = ::write(file, text.data(), text.size()) ==
                static_cast<ssize_t>(text.size());
    ::close(file);
    return done;
  };
  auto itself = [](unsigned id) {
    return std::to_string(id) + " " + std::to_string(id) + " 1";
  };
  unsigned user = ::geteuid(), group = ::getegid();
  if (user != 0 &&
      (::unshare(CLONE_NEWUSER) != 0 || !map("/proc/self/setgroups", "deny") ||
       !map("/proc/self/uid_map", itself(user)) ||
       !map("/proc/self/gid_map", itself(group))))
    return false;
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Each device over a folder of its own.
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

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_TEST_UNIT_RUNTIME_OFFLOADTESTING_H
