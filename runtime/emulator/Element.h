//===- Element.h - which element an access is meant to be of ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_ELEMENT_H
#define DRAWLOOM_RUNTIME_EMULATOR_ELEMENT_H

#include <cstdint>
#include <string>
#include <vector>

namespace drawloom::emulator {

struct Thread;

/// A compiler's description of an access, independent of its address: the
/// element of a view of a buffer that each thread accesses. Coordinates are
/// linear in the bits of the thread number.
struct Element {
  struct Digit {
    /// -1: the bit has no effect.
    int64_t dim = -1;
    int64_t stride = 0;
  };
  /// Coordinates for thread 0.
  std::vector<int64_t> at;
  /// The view's extents, -1 if unknown, and its strides in bytes.
  std::vector<int64_t> sizes, strides;
  /// What the bits of the thread number add to the coordinates; for matrices,
  /// also what the half of a word and the bits of the word's number add.
  std::vector<Digit> threads, registers;
  /// In bytes: the buffer is [start, start + bytes) relative to the root, and
  /// the view begins in it at `fixed` plus a multiple of `step` up to `limit`;
  /// at `fixed` if the step is 0.
  int64_t start = 0, bytes = 0, fixed = 0, step = 0, limit = 0;
  /// Whether a thread whose element is outside the view accesses the first
  /// element of the view or of the buffer instead.
  bool elsewhere = false;

  /// Describes what is wrong with an access of `width` bytes at an offset from
  /// the root, given the thread's register; empty if nothing is.
  std::string check(uint32_t thread, uint32_t reg, int64_t offset,
                    int64_t width) const;
};

/// Compares an access with the entry of the kernel's table with this number,
/// and reports differences.
void checkElement(Thread &thread, const char *address, const char *root,
                  int64_t width, int32_t element, uint32_t reg, int32_t site);

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_ELEMENT_H
