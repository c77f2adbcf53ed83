//===- TermBuilder.h - rows times terms, as linalg --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_SLR_TERMBUILDER_H
#define DRAWLOOM_DIALECTS_SLR_TERMBUILDER_H

#include "dialects/Slr/Slr.h"
#include "mlir/IR/IRMapping.h"

namespace drawloom::slr {

/// Whether terms are applied part by part, or materialized as matrices first.
enum class Association { Auto, Parts, Matrix };

/// Factors that are applied to rows one after another; the factors of a group
/// are applied as one matrix.
struct Chain {
  llvm::SmallVector<llvm::SmallVector<Value>> groups;
  /// Multiplications and additions per row.
  int64_t operations = 0;
};

/// Chooses the grouping of a product's factors that takes the fewest operations
/// per row.
Chain chainOf(mlir::ValueRange factors, Association association);

/// Return whether a term, possibly transposed, is a plain matrix (isDense), a
/// matrix of codes (isQuantized), or always materialized, for rows and for
/// gradients (isMadeAnyway).
bool isDense(Value term);
bool isQuantized(Value term);
bool isMadeAnyway(Value term);

/// Returns whether a term that takes `operations` per row is better
/// materialized, with `asMatrix` operations per row: building the matrix and
/// its whole gradient costs a part of what is saved.
bool isWorthAMatrix(int64_t operations, int64_t asMatrix);

/// Return the multiplications and additions per row, for a term as written
/// (operationsOfRow) or materialized (operationsAsMatrix).
int64_t operationsOfRow(Value term);
int64_t operationsAsMatrix(Value term);

/// Builds the products of tensors with terms of one region.
class TermBuilder {
public:
  TermBuilder(OpBuilder &b, mlir::Location loc, mlir::Block &region,
              mlir::ValueRange leaves, mlir::Type element,
              Association association);

  OpBuilder &builder() { return b; }
  mlir::Location location() const { return loc; }
  Association association() const { return form; }
  /// Returns the tensor that an argument of the region stands for.
  Value leaf(Value argument) const { return leaves.lookup(argument); }
  static TermType termOf(mlir::Operation *op) {
    return termType(op->getResult(0));
  }

  /// Multiplies `x` along `dim` by the term or its transpose.
  Value apply(Value term, Value x, int64_t dim, bool transposed);
  /// Multiplies `x` along `dim` by a product of terms, times `factor`.
  Value applyProduct(mlir::ValueRange factors, Value x, int64_t dim,
                     bool transposed, double factor = 1.0);
  Value materialize(Value term);

  /// Multiplies `x` along `dim` by a matrix [K, N] or, if `transposed`, [N, K].
  Value contract(Value x, int64_t dim, Value matrix, bool transposed);
  /// Multiplies `x` along `dim` by a separate matrix for each index of the
  /// dimension before `dim`.
  Value contractBlocks(Value x, int64_t dim, Value matrices, bool transposed);
  /// Multiplies `x` along `dim` by a sparse matrix, whose blocks are [E, p, q]
  /// or [E].
  Value contractSparse(Value x, int64_t dim, Value values,
                       mlir::ValueRange places, int64_t outputs,
                       bool transposed);
  Value scale(Value x, double factor);
  /// Multiplies each element by the element of `vector` at its position along
  /// `dim`.
  Value multiplyAlong(Value x, int64_t dim, Value vector);
  Value add(Value left, Value right);
  Value multiply(Value left, Value right);
  /// Sums over `dim`, which is removed.
  Value sumOver(Value x, int64_t dim);
  /// Repeats `x` along a new dimension at `dim`.
  Value repeat(Value x, int64_t dim, int64_t count);
  Value permute(Value x, llvm::ArrayRef<int64_t> permutation);
  /// expand() splits one dimension into several; collapse() merges several into
  /// one.
  Value expand(Value x, int64_t dim, llvm::ArrayRef<int64_t> shape);
  Value collapse(Value x, int64_t dim, int64_t count);
  /// slice() returns a part of `dim`; pad() embeds `x` in a dimension of zeros.
  Value slice(Value x, int64_t dim, int64_t offset, int64_t size);
  Value pad(Value x, int64_t dim, int64_t offset, int64_t extent);
  Value concat(mlir::ValueRange parts, int64_t dim);
  Value identity(int64_t extent);
  Value zeros(llvm::ArrayRef<int64_t> shape);
  /// Builds a tensor of `shape`, element by element from `inputs`.
  Value generate(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                 llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<Value(OpBuilder &, mlir::ValueRange)>);
  mlir::Type elementType() const { return element; }
  /// Returns `lengths` divided by the Euclidean lengths of the columns of
  /// `matrix`.
  Value columnFactors(Value matrix, Value lengths);

private:
  /// Returns an uninitialized tensor with the extents of `x`, except for one.
  Value emptyLike(Value x, int64_t dim, int64_t extent);
  Value filled(double number, Value empty);
  Value
  generateInto(Value empty, mlir::ValueRange inputs,
               llvm::ArrayRef<mlir::AffineMap> maps,
               llvm::function_ref<Value(OpBuilder &, mlir::ValueRange)> body);
  template <typename Op> Value pointwise(Value left, Value right);
  Value elementwise(mlir::ValueRange inputs,
                    llvm::ArrayRef<mlir::AffineMap> maps, Value like,
                    llvm::function_ref<Value(OpBuilder &, mlir::ValueRange)>);
  Value contractWith(Value x, Value matrix, mlir::AffineMap xMap,
                     mlir::AffineMap matrixMap, Value empty);

  OpBuilder &b;
  mlir::Location loc;
  mlir::IRMapping leaves;
  mlir::Type element;
  Association form;
  llvm::DenseMap<Value, Value> matrices;
};

} // namespace drawloom::slr

#endif // DRAWLOOM_DIALECTS_SLR_TERMBUILDER_H
