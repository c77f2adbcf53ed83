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

/// Builds loops that carry a tensor, and what they do with parts of it.
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
  /// An element of an array of indices.
  Value at(Value array, Value i);

  /// for i in from .. to by `step`.
  Value loop(Value from, Value to, int64_t step, Value init, Body body);
  /// From `starts[i]` up to `starts[i + 1]`.
  Value loopOver(Value starts, Value i, Value init, Body body);
  /// Steps of the greatest of these sizes first, then what is left in smaller
  /// ones, the last of which is 1.
  Value loopInSteps(
      OpFoldResult count, llvm::ArrayRef<int64_t> steps, Value init,
      llvm::function_ref<Value(Value at, int64_t step, Value carried)> body);

  Value empty(Sizes sizes, mlir::Type type);
  /// Of the type that is computed in.
  Value zeros(Sizes sizes);
  Value transpose(Value x);
  /// Of a type that leaves extents open which are known here.
  Value typed(Value x, mlir::Type type);
  /// A part, of which the last `rank` dimensions are kept: those in front of
  /// them have one element each.
  Value slice(Value x, Sizes offsets, Sizes sizes, unsigned rank);
  Value insert(Value part, Value into, Sizes offsets, Sizes sizes);
  /// Rounded to the type of the rows.
  Value rounded(Value x);
  /// sum += left right, by these maps of a generic's loops, which are all of
  /// one kind.
  Value accumulate(Value left, Value right, Value sum,
                   llvm::ArrayRef<mlir::AffineMap> maps,
                   mlir::utils::IteratorType loops);
  /// sum[m, n] += left right, where the inner dimension is `leftK` and `rightK`
  /// of them.
  Value contract(Value left, unsigned leftK, Value right, unsigned rightK,
                 Value sum);

private:
  /// Sizes that are constants as numbers: types say them then.
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
