//===- StoreShare.h - a store's part of a budget ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_STORESHARE_H
#define DRAWLOOM_RUNTIME_STORESHARE_H

#include <algorithm>
#include <cstdint>

namespace drawloom::runtime {

/// Returns the store's share, in bytes, of the memory that a program and its
/// store may use together.
inline int64_t storeShare(int64_t memory) {
  constexpr int64_t mebibyte = 1 << 20;
  return std::clamp(memory / 4, 8 * mebibyte, 256 * mebibyte);
}

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_STORESHARE_H
