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

/// Fails the block where the bytes are none of the kernel's or the address is
/// not a multiple of `alignment`.
void checkAddress(Thread &thread, const char *address, int64_t bytes,
                  AccessKind kind, Space space, int64_t alignment,
                  int32_t site);

/// Counts the access of one lane, where that was asked for.
void countAccess(Thread &thread, const char *address, int64_t bytes,
                 int32_t site);

/// Notes the access and reports what it is not ordered with. The address has
/// been checked.
void noteAccess(Thread &thread, const char *address, int64_t bytes,
                AccessKind kind, int32_t site);

/// Carries out the thread's first copies.
void completeCopies(Thread &thread, size_t count, int32_t site);

std::string describeAddress(const Block &block, const void *address);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_ACCESS_H
