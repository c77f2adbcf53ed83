//===- Arena.h - many buffers in one piece of memory ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_MEMORY_ARENA_H
#define DRAWLOOM_PASSES_MEMORY_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace drawloom {

inline constexpr int64_t arenaAlignment = 64;

/// A buffer, and the steps [first, last] of the program during which it is in
/// use.
struct Lifetime {
  int64_t bytes;
  int64_t first;
  int64_t last;
};

struct ArenaLayout {
  /// Aligned offset of each buffer.
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places buffers so that those in use at the same step do not overlap: the
/// largest first, and of equal ones the earliest, each at the lowest multiple
/// of `alignment` that is free throughout its lifetime. Empty buffers get
/// offset 0.
ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes,
                        int64_t alignment = arenaAlignment);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_MEMORY_ARENA_H
