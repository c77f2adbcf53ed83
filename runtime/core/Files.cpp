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
#include <cstdio>
#include <cstring>
#include <fcntl.h>
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
  std::string temporary;
  int descriptor = createBeside(path, temporary);
  if (descriptor < 0)
    return Status::error("'" + path +
                         "' cannot be written: " + std::strerror(errno));
  int code = 0;
  while (!contents.empty() && code == 0) {
    ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written >= 0)
      contents.remove_prefix(static_cast<size_t>(written));
    else if (errno != EINTR)
      code = errno;
  }
  // A quota or a server may refuse what was written as late as here.
  if (::close(descriptor) != 0 && code == 0)
    code = errno;
  if (code == 0 && std::rename(temporary.c_str(), path.c_str()) != 0)
    code = errno;
  if (code == 0)
    return {};
  ::unlink(temporary.c_str());
  return Status::error("'" + path +
                       "' cannot be written: " + std::strerror(code));
}

} // namespace drawloom::runtime
