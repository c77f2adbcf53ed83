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

/// An open extent of a function, or an open extent plus a constant: packed
/// sequences, for example, have one more offset than there are sequences.
struct OpenExtent {
  int64_t number = 0;
  /// The constant, from 0 to `mostMore`: large enough for any program, too
  /// small to overflow.
  int64_t more = 0;
  static constexpr int64_t mostMore = 1 << 20;

  /// Encodes the extent as one nonnegative number.
  int64_t code() const { return number + more * (int64_t(1) << 32); }
  static OpenExtent ofCode(int64_t code) {
    return {code & 0xffffffff, code >> 32};
  }
  /// Encodes the extent as a negative number for shapes, in which known extents
  /// are nonnegative.
  int64_t inShape() const { return -1 - code(); }
  static OpenExtent ofShape(int64_t extent) { return ofCode(-1 - extent); }

  /// Returns the extent's value, given the open extents of a call.
  int64_t in(const int64_t *extents) const { return extents[number] + more; }
};

} // namespace drawloom

#endif // DRAWLOOM_OPENEXTENT_H
