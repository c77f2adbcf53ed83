//===- Access.h - tensors read through indexing maps ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_ACCESS_H
#define DRAWLOOM_LIB_INTERPRETER_ACCESS_H

#include "lib/Interpreter/ScalarOps.h"
#include "mlir/IR/AffineMap.h"

namespace drawloom::interpreter {

/// Returns the value of an affine expression; nothing if it divides by zero or
/// less.
std::optional<int64_t> evaluateAffine(mlir::AffineExpr expr,
                                      llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<int64_t> symbols);

/// How a loop nest reads or writes one tensor through an indexing map. If the
/// map is linear in the loop indices, the position is updated by adding
/// strides; otherwise it is evaluated at each point.
class Access {
public:
  static Access create(mlir::AffineMap map, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> extents);

  struct OutOfRange {
    int64_t dim, index;
  };
  /// Returns the first point outside the tensor's range, if there is one.
  std::optional<OutOfRange> outOfRange() const;

  void bind(const HostTensor &tensor);
  void bindMutable(HostTensor &tensor);

  bool linear() const { return isLinear; }
  int64_t innerStride() const { return strides.empty() ? 0 : strides.back(); }
  int64_t position() const { return at; }
  const double *floats() const { return floatData; }
  double *mutableFloats() const { return const_cast<double *>(floatData); }

  void moveTo(llvm::ArrayRef<int64_t> point);
  /// Moves to the next point along the innermost loop.
  void step() { at += innerStride(); }

  Scalar load(llvm::ArrayRef<int64_t> point) const {
    int64_t offset = isLinear ? at : offsetAt(point);
    Scalar value;
    if (floatData)
      value.f = floatData[offset];
    else
      value.i = intData[offset];
    return value;
  }
  /// Only valid after bindMutable.
  void store(llvm::ArrayRef<int64_t> point, Scalar value) {
    int64_t offset = isLinear ? at : offsetAt(point);
    if (floatData)
      const_cast<double *>(floatData)[offset] = value.f;
    else
      const_cast<int64_t *>(intData)[offset] = value.i;
  }

private:
  int64_t offsetAt(llvm::ArrayRef<int64_t> point) const;

  mlir::AffineMap map;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 6> extents;
  bool isLinear = true;
  int64_t base = 0, at = 0;
  /// Number of elements by which the position moves with each loop index.
  llvm::SmallVector<int64_t, 6> strides;
  const double *floatData = nullptr;
  const int64_t *intData = nullptr;
};

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_ACCESS_H
