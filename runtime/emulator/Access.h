//===- Access.h - loads, stores and copies are checked ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_ACCESS_H
#define DRAWLOOM_RUNTIME_EMULATOR_ACCESS_H

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Symbols.h"

namespace drawloom::emulator {

/// Fails the block if the bytes do not belong to the kernel, or if the address
/// is not a multiple of `alignment`.
void checkAddress(Thread &thread, const char *address, int64_t bytes,
                  AccessKind kind, Space space, int64_t alignment,
                  int32_t site);

/// Counts the access of one lane, if counting is enabled.
void countAccess(Thread &thread, const char *address, int64_t bytes,
                 int32_t site);

/// Records the access and reports other accesses that it is not ordered with.
/// The address must have been checked.
void noteAccess(Thread &thread, const char *address, int64_t bytes,
                AccessKind kind, int32_t site);

/// Performs the thread's first `count` copies.
void completeCopies(Thread &thread, size_t count, int32_t site);

std::string describeAddress(const Block &block, const void *address);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_ACCESS_H
