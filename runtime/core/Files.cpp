//===- Files.cpp - files as a whole ---------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Files.h"
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drawloom::runtime {

Result<std::string> readFile(const std::string &path) {
  auto failed = [&] {
    return Status::error("'" + path +
                         "' cannot be read: " + std::strerror(errno));
  };
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return failed();
  std::string contents;
  char buffer[65536];
  size_t count;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0)
    contents.append(buffer, count);
  bool bad = std::ferror(file) != 0;
  Status status = bad ? failed() : Status();
  std::fclose(file);
  if (bad)
    return status;
  return contents;
}

static Status cannotWrite(const std::string &path, int code) {
  return Status::error("'" + path +
                       "' cannot be written: " + std::strerror(code));
}

Result<Destination> destinationOf(const std::string &given) {
  Destination destination{given, false, std::nullopt};
  std::string &path = destination.path;
  struct stat info;
  // As many links as the system follows. The last may lead to no file yet.
  for (int links = 0;; ++links) {
    if (::lstat(path.c_str(), &info) != 0) {
      // A folder that is not there is for whoever opens the file to tell.
      if (errno == ENOENT || errno == ENOTDIR)
        return destination;
      return cannotWrite(given, errno);
    }
    if (!S_ISLNK(info.st_mode))
      break;
    char target[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
    if (length < 0 || links == 40)
      return cannotWrite(given, length < 0 ? errno : ELOOP);
    std::string next(target, static_cast<size_t>(length));
    size_t folder = path.rfind('/');
    path = next.front() == '/' || folder == std::string::npos
               ? next
               : path.substr(0, folder + 1) + next;
  }
  if (S_ISDIR(info.st_mode))
    return cannotWrite(given, EISDIR);
  destination.isSpecial = !S_ISREG(info.st_mode);
  destination.mode = info.st_mode & 07777;
  return destination;
}

/// The code of what went wrong, or 0.
static int writeAll(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written >= 0)
      contents.remove_prefix(static_cast<size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

/// Creates a file beside `path` that nobody else has, with the rights that the
/// process's mask leaves it; -1 on failure.
static int createBeside(const std::string &path, std::string &name) {
  static std::atomic<unsigned> count{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = path + "-new-" + std::to_string(getpid()) + "-" +
           std::to_string(count++);
    int descriptor =
        ::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

Status writeFile(const std::string &path, std::string_view contents) {
  Result<Destination> destination = destinationOf(path);
  if (!destination.ok())
    return Status::error(destination.message());
  std::string temporary;
  int descriptor =
      destination->isSpecial
          ? ::open(destination->path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)
          : createBeside(destination->path, temporary);
  if (descriptor < 0)
    return cannotWrite(path, errno);
  int code = 0;
  if (!destination->isSpecial && destination->mode &&
      ::fchmod(descriptor, *destination->mode) != 0)
    code = errno;
  if (code == 0)
    code = writeAll(descriptor, contents);
  // A quota or a server may refuse what was written as late as here.
  if (::close(descriptor) != 0 && code == 0)
    code = errno;
  if (!temporary.empty()) {
    if (code == 0 &&
        std::rename(temporary.c_str(), destination->path.c_str()) != 0)
      code = errno;
    if (code != 0)
      ::unlink(temporary.c_str());
  }
  return code == 0 ? Status() : cannotWrite(path, code);
}

} // namespace drawloom::runtime
