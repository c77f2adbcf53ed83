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
static bool writeUnnamed(StringRef path, StringRef contents, unsigned mode,
                         std::error_code &code) {
  StringRef folder = sys::path::parent_path(path);
  int descriptor = ::open(folder.empty() ? "." : folder.str().c_str(),
                          O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor < 0)
    return false;
  llvm::scope_exit close([&] { ::close(descriptor); });
  code = writeAll(descriptor, contents);
  if (code)
    return true;
  std::string file = "/proc/self/fd/" + std::to_string(descriptor);
  std::string name = path.str();
  if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, name.c_str(),
               AT_SYMLINK_FOLLOW) == 0)
    return true;
  // A link takes no other file's place: where there is one, a name of its own
  // comes first, and takes it.
  return false;
}

std::error_code writeWholeFile(StringRef path, StringRef contents,
                               unsigned mode) {
  std::error_code code;
  if (writeUnnamed(path, contents, mode, code))
    return code;
  int descriptor;
  SmallString<128> temporary;
  if ((code = sys::fs::createUniqueFile(path + "-new-%%%%%%%%%%%%", descriptor,
                                        temporary, sys::fs::OF_None, mode)))
    return code;
  code = writeAll(descriptor, contents);
  // A quota or a server may refuse what was written as late as here.
  if (::close(descriptor) != 0 && !code)
    code = std::error_code(errno, std::generic_category());
  if (!code)
    code = sys::fs::rename(temporary, path);
  if (code)
    sys::fs::remove(temporary);
  return code;
}

} // namespace drawloom
