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

/// Writes a file atomically, replacing an existing one. If the process ends
/// meanwhile, nothing is left of the new file; no signal handler is needed for
/// that: LLVM's own temporary files install one, which a library must not. On
/// file systems without unnamed files, a process that is killed may leave
/// `path`-new-* behind. `mode` is subject to the process's umask.
std::error_code writeWholeFile(llvm::StringRef path, llvm::StringRef contents,
                               unsigned mode = 0666);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_WHOLEFILE_H
