//===- ShortArray.h - arrays that are mostly short -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_SHORTARRAY_H
#define DRAWLOOM_RUNTIME_SHORTARRAY_H

#include <cstddef>
#include <memory>

namespace drawloom::runtime {

/// An array whose length is fixed at construction; its elements are
/// uninitialized. A short array needs no allocation: a call of a small program
/// takes less time than an allocation.
template <typename T, size_t shortLength = 32> class ShortArray {
public:
  explicit ShortArray(size_t length)
      : longer(length > shortLength ? new T[length] : nullptr),
        elements(longer ? longer.get() : here) {}
  ShortArray(const ShortArray &) = delete;
  ShortArray &operator=(const ShortArray &) = delete;
  T *data() { return elements; }
  T &operator[](size_t i) { return elements[i]; }

private:
  T here[shortLength];
  std::unique_ptr<T[]> longer;
  T *elements;
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_SHORTARRAY_H
