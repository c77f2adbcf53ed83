//===- Files.cpp - files that are written whole or not at all -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <system_error>
#include <unistd.h>

using namespace llvm;

Error image::makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static Error cannotWrite(StringRef path, const Twine &why) {
  return image::makeError("cannot write '" + path + "': " + why);
}

/// A new file beside `path`. Not sys::fs::TempFile: that one installs LLVM's
/// signal handlers, and here Ctrl-C means something else.
static Expected<int> createBeside(const Twine &path, SmallString<128> &name) {
  int descriptor = -1;
  if (std::error_code error =
          sys::fs::createUniqueFile(path + ".%%%%%%.tmp", descriptor, name))
    return errorCodeToError(error);
  return descriptor;
}

Error image::writeWhole(StringRef path, StringRef bytes) {
  SmallString<128> name;
  Expected<int> descriptor = createBeside(path, name);
  if (!descriptor)
    return cannotWrite(path, toString(descriptor.takeError()));
  std::error_code error;
  {
    raw_fd_ostream stream(*descriptor, /*shouldClose=*/false);
    stream << bytes;
    stream.flush();
    error = stream.error();
    stream.clear_error();
  }
  if (!error && fsync(*descriptor) != 0)
    error = std::error_code(errno, std::generic_category());
  if (close(*descriptor) != 0 && !error)
    error = std::error_code(errno, std::generic_category());
  if (!error)
    error = sys::fs::rename(name, path);
  if (error) {
    sys::fs::remove(name);
    return cannotWrite(path, error.message());
  }
  return Error::success();
}

Error image::prepareFolder(StringRef folder, uint64_t bytes) {
  if (std::error_code error = sys::fs::create_directories(folder))
    return makeError("cannot create the folder '" + folder + "': " +
                     error.message() + "; choose another with --output");
  SmallString<128> name;
  Expected<int> probe = createBeside(folder + "/probe", name);
  if (!probe)
    return makeError("cannot write to the folder '" + folder +
                     "': " + toString(probe.takeError()) +
                     "; choose another with --output");
  close(*probe);
  sys::fs::remove(name);
  ErrorOr<sys::fs::space_info> space = sys::fs::disk_space(folder);
  if (space && space->available < bytes)
    return makeError(formatv("the disk of '{0}' has {1} MB left and this run "
                             "writes up to {2} MB; free some space or choose "
                             "another folder with --output",
                             folder, space->available >> 20,
                             (bytes >> 20) + 1));
  return Error::success();
}
