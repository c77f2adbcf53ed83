//===- Files.cpp - files as a whole ---------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Files.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

Status writeFile(const std::string &path, std::string_view contents) {
  std::string temporary = path + "-new-XXXXXX";
  int descriptor = mkstemp(temporary.data());
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
  // mkstemp's files are their owner's alone; others have what the process's
  // mask leaves them, which can only be asked for by changing it, for all
  // threads. So all may read, as with most masks.
  if (code == 0 && ::fchmod(descriptor, 0644) != 0)
    code = errno;
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
