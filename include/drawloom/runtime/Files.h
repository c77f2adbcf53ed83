//===- Files.h - files as a whole ------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_FILES_H
#define DRAWLOOM_RUNTIME_FILES_H

#include "drawloom/runtime/Status.h"
#include <optional>
#include <string>
#include <string_view>

namespace drawloom::runtime {

/// A file's contents.
Result<std::string> readFile(const std::string &path);

/// Where a file goes that is written under a name.
struct Destination {
  /// Behind all links.
  std::string path;
  /// A device, a pipe: it is written to, and nothing takes its place.
  bool isSpecial = false;
  /// Rights of the file that is there, which one in its place keeps; where
  /// there is none, what the process's mask leaves of all.
  std::optional<unsigned> mode;
};
Result<Destination> destinationOf(const std::string &path);

/// Writes a file beside its name and renames it: it is there as a whole or not
/// at all, in the place of one that was there. Links are followed, rights kept;
/// what is no regular file is written to.
Status writeFile(const std::string &path, std::string_view contents);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_FILES_H
