//===- ThreadSanitizer.cpp - what is no race though it looks like one -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// libLLVM makes this object once, under a guard that ThreadSanitizer cannot
/// see: the library is not instrumented. Our code counts references to it.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char *__tsan_default_suppressions() {
  return "race:^llvm::vfs::getRealFileSystem\n";
}
