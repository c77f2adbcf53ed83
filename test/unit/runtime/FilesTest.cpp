//===- FilesTest.cpp - files as a whole -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Files.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

using namespace drawloom::runtime;
namespace fs = std::filesystem;

namespace {
class Files : public testing::Test {
protected:
  Files() {
    std::string name = testing::TempDir() + "/files-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name + "/";
  }
  ~Files() override { fs::remove_all(folder); }

  static std::string contentsOf(const std::string &path) {
    Result<std::string> contents = readFile(path);
    EXPECT_TRUE(contents.ok()) << contents.message();
    return contents.ok() ? *contents : "";
  }
  static struct stat status(const std::string &path) {
    struct stat info = {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info;
  }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder),
                                             fs::directory_iterator()));
  }

  std::string folder;
};
} // namespace

TEST_F(Files, TakeAnothersPlaceWithItsRights) {
  std::string path = folder + "file";
  ASSERT_TRUE(writeFile(path, "first").ok());
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(writeFile(path, "second").ok());
  EXPECT_EQ(contentsOf(path), "second");
  EXPECT_EQ(status(path).st_mode & 07777, 0600u);
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, AreWrittenBehindLinks) {
  fs::create_directory(folder + "elsewhere");
  fs::create_symlink("elsewhere/link", folder + "first");
  fs::create_symlink("file", folder + "elsewhere/link");
  // The first time, there is nothing behind them.
  for (const char *contents : {"one", "two"}) {
    ASSERT_TRUE(writeFile(folder + "first", contents).ok());
    EXPECT_TRUE(fs::is_symlink(folder + "first"));
    EXPECT_TRUE(fs::is_symlink(folder + "elsewhere/link"));
    EXPECT_EQ(contentsOf(folder + "elsewhere/file"), contents);
  }
}

TEST_F(Files, RefuseLinksInACircle) {
  fs::create_symlink("b", folder + "a");
  fs::create_symlink("a", folder + "b");
  Status status = writeFile(folder + "a", "x");
  EXPECT_EQ(status.message(), "'" + folder +
                                  "a' cannot be written: Too many levels of "
                                  "symbolic links");
}

TEST_F(Files, RefuseFolders) {
  Status status = writeFile(folder, "x");
  EXPECT_EQ(status.message(),
            "'" + folder + "' cannot be written: Is a directory");
}

TEST_F(Files, GoThroughPipes) {
  std::string path = folder + "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = contentsOf(path); });
  EXPECT_TRUE(writeFile(path, "through").ok());
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(S_ISFIFO(status(path).st_mode));
}

TEST_F(Files, LeaveDevicesWhereTheyAre) {
  std::string path = folder + "full";
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0)
    GTEST_SKIP() << "devices are made by root";
  int descriptor = ::open(path.c_str(), O_WRONLY);
  if (descriptor < 0)
    GTEST_SKIP() << "devices do not work in this file system";
  ::close(descriptor);
  Status status = writeFile(path, "x");
  EXPECT_EQ(status.message(),
            "'" + path + "' cannot be written: No space left on device");
  EXPECT_TRUE(S_ISCHR(this->status(path).st_mode));
  EXPECT_EQ(count(), 1u);
}
