//===- WholeFile.cpp - files that are there whole or not at all -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/WholeFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace drawloom {

static std::error_code writeAll(int descriptor, StringRef contents) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << contents;
  stream.flush();
  std::error_code code = stream.error();
  // The stream's destructor aborts on an error that nobody has looked at.
  stream.clear_error();
  return code;
}

/// Writes a file without a name, then gives it one. False where this file
/// system cannot do it.
static bool writeUnnamed(StringRef path, StringRef contents,
                         std::error_code &code) {
  StringRef folder = sys::path::parent_path(path);
  int descriptor = ::open(folder.empty() ? "." : folder.str().c_str(),
                          O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return false;
  llvm::scope_exit close([&] { ::close(descriptor); });
  code = writeAll(descriptor, contents);
  if (code)
    return true;
  std::string file = "/proc/self/fd/" + std::to_string(descriptor);
  std::string name = path.str();
  // A link takes no other file's place. Should another process be about to
  // write the same name, one of the two gets it.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0)
      return true;
    if (errno != EEXIST || ::unlink(name.c_str()) != 0)
      break;
  }
  return false;
}

std::error_code writeWholeFile(StringRef path, StringRef contents) {
  std::error_code code;
  if (writeUnnamed(path, contents, code))
    return code;
  int descriptor;
  SmallString<128> temporary;
  if ((code = sys::fs::createUniqueFile(path + "-new-%%%%%%%%%%%%", descriptor,
                                        temporary)))
    return code;
  code = writeAll(descriptor, contents);
  ::close(descriptor);
  if (!code)
    code = sys::fs::rename(temporary, path);
  if (code)
    sys::fs::remove(temporary);
  return code;
}

} // namespace drawloom
