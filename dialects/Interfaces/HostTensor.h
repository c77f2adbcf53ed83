//===- HostTensor.h - a value of the reference interpreter ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_HOSTTENSOR_H
#define DRAWLOOM_DIALECTS_INTERFACES_HOSTTENSOR_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cassert>
#include <cstdint>
#include <memory>
#include <vector>

namespace drawloom {

/// A dense, row-major tensor of doubles or of 64-bit integers. Every float type
/// of the IR is represented as double, and every integer, index and i1 as
/// int64_t: the interpreter computes the exact mathematics rather than a type's
/// rounding. A scalar is a tensor of rank 0. Copies share their storage until
/// one is written to; a single element needs no storage, so that scalars are
/// cheap.
///
/// Integers of fewer than 64 bits are kept sign-extended, i1 as 0 or 1.
class HostTensor {
public:
  HostTensor() = default;
  /// Makes a tensor of zeros.
  HostTensor(bool isFloat, llvm::ArrayRef<int64_t> shape);
  /// Makes a tensor of zeros of the kind and static shape of `type` (scalar or
  /// shaped).
  static HostTensor zerosOf(mlir::Type type);
  static HostTensor scalar(double value);
  static HostTensor scalar(int64_t value);

  bool isFloat() const { return floatKind; }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int64_t rank() const { return extents.size(); }
  int64_t dim(int64_t i) const { return extents[i]; }
  int64_t size() const;

  /// Returns the row-major position of an index tuple.
  int64_t offset(llvm::ArrayRef<int64_t> index) const;

  /// Returns the elements for reading; the kind must match.
  llvm::ArrayRef<double> f() const {
    assert(floatKind && "not a float tensor");
    return floats ? llvm::ArrayRef<double>(*floats)
                  : llvm::ArrayRef<double>(single.f);
  }
  llvm::ArrayRef<int64_t> i() const {
    assert(!floatKind && "not an integer tensor");
    return ints ? llvm::ArrayRef<int64_t>(*ints)
                : llvm::ArrayRef<int64_t>(single.i);
  }
  double f(llvm::ArrayRef<int64_t> index) const { return f()[offset(index)]; }
  int64_t i(llvm::ArrayRef<int64_t> index) const { return i()[offset(index)]; }
  /// Returns the single element of a scalar.
  double asFloat() const { return f().front(); }
  int64_t asInt() const { return i().front(); }

  /// Returns the elements for writing; the tensor first gets storage of its
  /// own.
  llvm::MutableArrayRef<double> mutableF();
  llvm::MutableArrayRef<int64_t> mutableI();

  /// Returns the same elements under another shape of equal size.
  HostTensor reshaped(llvm::ArrayRef<int64_t> shape) const;

private:
  llvm::SmallVector<int64_t, 4> extents;
  bool floatKind = true;
  /// The element of a tensor that has exactly one; `floats` and `ints` are then
  /// null.
  union {
    double f = 0.0;
    int64_t i;
  } single;
  std::shared_ptr<std::vector<double>> floats;
  std::shared_ptr<std::vector<int64_t>> ints;
};

/// Applies `fn` to every element; called by the `interpret` of elementwise ops.
template <typename Fn> HostTensor mapElements(const HostTensor &x, Fn fn) {
  HostTensor y = x;
  for (double &v : y.mutableF())
    v = fn(v);
  return y;
}

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_INTERFACES_HOSTTENSOR_H
