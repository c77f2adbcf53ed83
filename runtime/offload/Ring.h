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

/// Makes a ring. With `single`, it is used by a single thread; with `disabled`,
/// it belongs to no thread until it is enabled. Returns 0 or a negative errno.
int makeRing(io_uring &ring, bool single, bool disabled);

/// Tests rings by writing and reading a page of memory through a new one.
/// Returns 0 or a negative errno.
int tryRing(bool single);

/// Explains the kernel's refusal, given as a negative errno.
std::string refusalOfRings(int code);

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_RING_H
