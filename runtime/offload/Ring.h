//===- Ring.h - rings of io_uring -------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_RING_H
#define DRAWLOOM_RUNTIME_OFFLOAD_RING_H

#include <liburing.h>
#include <string>

namespace drawloom::runtime::offload {

/// Makes a ring: one that a single thread has for itself, and that belongs to
/// none before it is enabled. 0, or the negative of an errno.
int makeRing(io_uring &ring, bool single, bool disabled);

/// Writes and reads a page of memory by a ring of its own. 0, or the negative
/// of an errno.
int tryRing(bool single);

/// What to tell of the kernel's refusal, the negative of an errno.
std::string refusalOfRings(int code);

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_RING_H
