//===- Arena.cpp - many buffers in one piece of memory --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Arena.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace drawloom {

ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t alignment) {
  ArenaLayout layout;
  layout.offsets.assign(lifetimes.size(), 0);
  llvm::SmallVector<unsigned> order;
  for (unsigned i = 0; i < lifetimes.size(); ++i)
    if (lifetimes[i].bytes > 0)
      order.push_back(i);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-lifetimes[a].bytes, lifetimes[a].first) <
           std::pair(-lifetimes[b].bytes, lifetimes[b].first);
  });
  // By their offsets.
  llvm::SmallVector<unsigned> placed;
  for (unsigned i : order) {
    int64_t at = 0;
    for (unsigned other : placed) {
      if (lifetimes[other].first > lifetimes[i].last ||
          lifetimes[i].first > lifetimes[other].last)
        continue;
      if (at + lifetimes[i].bytes <= layout.offsets[other])
        break;
      at = std::max<int64_t>(
          at, llvm::alignTo(layout.offsets[other] + lifetimes[other].bytes,
                            alignment));
    }
    layout.offsets[i] = at;
    layout.bytes = std::max(layout.bytes, at + lifetimes[i].bytes);
    placed.insert(llvm::upper_bound(placed, at,
                                    [&](int64_t offset, unsigned other) {
                                      return offset < layout.offsets[other];
                                    }),
                  i);
  }
  layout.bytes = llvm::alignTo(layout.bytes, alignment);
  return layout;
}

} // namespace drawloom
