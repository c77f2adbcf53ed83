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

/// Whether terms are applied part by part or made as matrices first.
enum class Association { Auto, Parts, Matrix };

/// Factors that are applied to rows one after the other; several of a group as
/// one matrix.
struct Chain {
  llvm::SmallVector<llvm::SmallVector<Value>> groups;
  /// Multiplications and additions of a row.
  int64_t operations = 0;
};

/// How the factors of a product are grouped: with the fewest operations of a
/// row.
Chain chainOf(mlir::ValueRange factors, Association association);

/// Whether a term is a matrix as it is, perhaps transposed, one of codes, or
/// one that is made for rows and for gradients, whatever is beside it.
bool isDense(Value term);
bool isQuantized(Value term);
bool isMadeAnyway(Value term);

/// Whether what takes a row so many operations is better made as a matrix: it
/// has to be made, and its whole gradient, which takes a part of what it saves.
bool isWorthAMatrix(int64_t operations, int64_t asMatrix);

/// Multiplications and additions that a row takes, as it is written or as a
/// matrix.
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
  /// The tensor that an argument of the region stands for.
  Value leaf(Value argument) const { return leaves.lookup(argument); }
  static TermType termOf(mlir::Operation *op) {
    return termType(op->getResult(0));
  }

  /// What `x` has along `dim`, times the term or its transpose.
  Value apply(Value term, Value x, int64_t dim, bool transposed);
  /// The same of a product of terms, times `factor`.
  Value applyProduct(mlir::ValueRange factors, Value x, int64_t dim,
                     bool transposed, double factor = 1.0);
  Value materialize(Value term);

  /// What `x` has along `dim`, times a matrix [K, N] or, `transposed`, [N, K].
  Value contract(Value x, int64_t dim, Value matrix, bool transposed);
  /// The same with a matrix for each index of the dimension before `dim`.
  Value contractBlocks(Value x, int64_t dim, Value matrices, bool transposed);
  /// The same with a sparse matrix, whose blocks are [E, p, q] or [E].
  Value contractSparse(Value x, int64_t dim, Value values,
                       mlir::ValueRange places, int64_t outputs,
                       bool transposed);
  Value scale(Value x, double factor);
  /// Each element times that of `vector` at its place along `dim`.
  Value multiplyAlong(Value x, int64_t dim, Value vector);
  Value add(Value left, Value right);
  Value multiply(Value left, Value right);
  /// Sums over `dim`, which is left out.
  Value sumOver(Value x, int64_t dim);
  /// Repeats `x` along a new dimension at `dim`.
  Value repeat(Value x, int64_t dim, int64_t count);
  Value permute(Value x, llvm::ArrayRef<int64_t> permutation);
  /// One dimension as several, and several as one.
  Value expand(Value x, int64_t dim, llvm::ArrayRef<int64_t> shape);
  Value collapse(Value x, int64_t dim, int64_t count);
  /// A part of `dim`, and `x` as a part of a dimension that is else zero.
  Value slice(Value x, int64_t dim, int64_t offset, int64_t size);
  Value pad(Value x, int64_t dim, int64_t offset, int64_t extent);
  Value concat(mlir::ValueRange parts, int64_t dim);
  Value identity(int64_t extent);
  Value zeros(llvm::ArrayRef<int64_t> shape);
  /// A tensor of `shape`, element by element of `inputs`.
  Value generate(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                 llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<Value(OpBuilder &, mlir::ValueRange)>);
  mlir::Type elementType() const { return element; }
  /// `lengths` over the Euclidean lengths of the columns of `matrix`.
  Value columnFactors(Value matrix, Value lengths);

private:
  /// Uninitialised, of the extents of `x` but for one.
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
