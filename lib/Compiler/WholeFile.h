//===- WholeFile.h - files that are there whole or not at all ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_WHOLEFILE_H
#define DRAWLOOM_LIB_COMPILER_WHOLEFILE_H

#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace drawloom {

/// Writes a file, in place of one of that name. It appears with all its
/// contents, and a process that ends meanwhile leaves nothing of it, without
/// any handler of signals: LLVM's own temporary files install one, which a
/// library must not. Where the file system has no files without a name, a
/// process that is killed may leave `path`-new-* behind. The process's mask
/// takes rights from `mode`.
std::error_code writeWholeFile(llvm::StringRef path, llvm::StringRef contents,
                               unsigned mode = 0666);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_WHOLEFILE_H
