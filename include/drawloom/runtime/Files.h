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

/// Returns the contents of a file.
Result<std::string> readFile(const std::string &path);

/// Resolves where a file written under a name ends up.
struct Destination {
  /// Path after following all links.
  std::string path;
  /// Whether the path is a device or a pipe, which is written to directly
  /// instead of being replaced.
  bool isSpecial = false;
  /// Permissions of the existing file, which its replacement keeps; if there is
  /// no such file, those that the process's umask allows.
  std::optional<unsigned> mode;
};
Result<Destination> destinationOf(const std::string &path);

/// Writes a file atomically: writes it under a temporary name and renames it,
/// replacing an existing file. Links are followed and permissions kept; a path
/// that is not a regular file is written to directly.
Status writeFile(const std::string &path, std::string_view contents);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_FILES_H
