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
#include <string_view>

namespace drawloom::runtime {

/// A file's contents.
Result<std::string> readFile(const std::string &path);

/// Writes a file beside its name and renames it: it is there as a whole or not
/// at all, in the place of one that was there.
Status writeFile(const std::string &path, std::string_view contents);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_FILES_H
