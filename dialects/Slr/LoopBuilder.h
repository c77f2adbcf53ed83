//===- LoopBuilder.h - loops over parts of tensors --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_SLR_LOOPBUILDER_H
#define DRAWLOOM_DIALECTS_SLR_LOOPBUILDER_H

#include "dialects/Interfaces/ScalarBuilder.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace drawloom::slr {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Builds loops that carry a tensor, and operations on parts of it.
class LoopBuilder {
public:
  using OpBuilder = mlir::OpBuilder;
  using OpFoldResult = mlir::OpFoldResult;
  using Value = mlir::Value;
  using Sizes = llvm::ArrayRef<OpFoldResult>;
  using Body = llvm::function_ref<Value(Value i, Value carried)>;

  LoopBuilder(OpBuilder &b, mlir::Location loc, mlir::Type element)
      : b(b), loc(loc), math(b, loc), element(element),
        wide(computeType(element)) {}

  OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }
  Value index(int64_t value);
  Value add(Value i, Value j);
  Value subtract(Value i, Value j);
  Value times(Value i, int64_t factor);
  Value least(Value i, Value j);
  /// Returns an element of an array of indices.
  Value at(Value array, Value i);

  /// Builds: for i in from .. to by `step`.
  Value loop(Value from, Value to, int64_t step, Value init, Body body);
  /// Builds a loop from `starts[i]` up to `starts[i + 1]`.
  Value loopOver(Value starts, Value i, Value init, Body body);
  /// Builds loops with the largest of these step sizes first, then smaller ones
  /// for the remainder; the last size is 1.
  Value loopInSteps(
      OpFoldResult count, llvm::ArrayRef<int64_t> steps, Value init,
      llvm::function_ref<Value(Value at, int64_t step, Value carried)> body);

  Value empty(Sizes sizes, mlir::Type type);
  /// Returns zeros of the type that is computed in.
  Value zeros(Sizes sizes);
  Value transpose(Value x);
  /// Casts to a type that leaves open extents which are known here.
  Value typed(Value x, mlir::Type type);
  /// Returns a part, of which the last `rank` dimensions are kept: preceding
  /// dimensions have one element each.
  Value slice(Value x, Sizes offsets, Sizes sizes, unsigned rank);
  Value insert(Value part, Value into, Sizes offsets, Sizes sizes);
  /// Rounds to the type of the rows.
  Value rounded(Value x);
  /// Builds sum += left right, with these maps of a generic's loops, all of
  /// which have the same kind.
  Value accumulate(Value left, Value right, Value sum,
                   llvm::ArrayRef<mlir::AffineMap> maps,
                   mlir::utils::IteratorType loops);
  /// Builds sum[m, n] += left right, where `leftK` and `rightK` are the
  /// contraction dimensions of the operands.
  Value contract(Value left, unsigned leftK, Value right, unsigned rightK,
                 Value sum);

private:
  /// Returns sizes with constants folded, so that types include them.
  llvm::SmallVector<OpFoldResult> folded(Sizes sizes);

public:
  OpBuilder &b;
  mlir::Location loc;
  IndexMath math;
  mlir::Type element;
  mlir::FloatType wide;
};

} // namespace drawloom::slr

#endif // DRAWLOOM_DIALECTS_SLR_LOOPBUILDER_H
