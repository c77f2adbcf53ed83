//===- OpenExtent.h - an extent that calls choose --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_OPENEXTENT_H
#define DRAWLOOM_OPENEXTENT_H

#include <cstdint>

namespace drawloom {

/// One of a function's open extents, or what is a constant larger: where
/// sequences are packed, their starts have one entry more than there are
/// sequences.
struct OpenExtent {
  int64_t number = 0;
  /// From 0 to `mostMore`: more than what a program is, less than what
  /// overflows.
  int64_t more = 0;
  static constexpr int64_t mostMore = 1 << 20;

  /// As one number of 0 or more.
  int64_t code() const { return number + more * (int64_t(1) << 32); }
  static OpenExtent ofCode(int64_t code) {
    return {code & 0xffffffff, code >> 32};
  }
  /// In shapes, where known extents are 0 or more.
  int64_t inShape() const { return -1 - code(); }
  static OpenExtent ofShape(int64_t extent) { return ofCode(-1 - extent); }

  /// Where the open extents of a call are these.
  int64_t in(const int64_t *extents) const { return extents[number] + more; }
};

} // namespace drawloom

#endif // DRAWLOOM_OPENEXTENT_H
