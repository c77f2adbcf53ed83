//===- Tiles.h - arithmetic on tiles -------------------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_LINREC_CHUNK_TILES_H
#define DRAWLOOM_DIALECTS_LINREC_CHUNK_TILES_H

#include "dialects/Interfaces/ScalarBuilder.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace drawloom::linrec {

/// A tile, and the loops of its dimensions, one letter each: with the loops
/// "ij", {x, "j"} is a row that all i share.
struct Indexed {
  mlir::Value tile;
  llvm::StringRef loops;
};

/// Builds the computation of a chunk: elementwise maps, sums and products of
/// tiles of static shape, in one float type. If `narrow` is not null, operands
/// of matrix products are rounded to it, and exponentials and quotients are
/// approximate.
class Tiles {
public:
  Tiles(mlir::OpBuilder &builder, mlir::Location loc, mlir::FloatType element,
        mlir::FloatType narrow = {})
      : b(builder), loc(loc), element(element), narrow(narrow) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::FloatType element, narrow;

  using Values = llvm::SmallVector<mlir::Value>;
  using Body =
      llvm::function_ref<Values(ScalarBuilder &, mlir::ValueRange inputs)>;
  using Scalar =
      llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange)>;

  static llvm::ArrayRef<int64_t> shape(mlir::Value tile);

  mlir::Value index(int64_t value);
  mlir::Value number(double value);
  mlir::Value empty(llvm::ArrayRef<int64_t> shape);
  mlir::Value zeros(llvm::ArrayRef<int64_t> shape);
  /// Returns an array of `count` tiles.
  mlir::Value array(mlir::OpFoldResult count, llvm::ArrayRef<int64_t> shape);

  /// Builds a linalg.generic. Loops that an output lacks are reductions; `body`
  /// gets the elements of inputs and outputs, and returns those of the outputs.
  Values generic(llvm::ArrayRef<Indexed> inputs,
                 llvm::ArrayRef<Indexed> outputs, Body body);
  /// Builds a generic with one result, computed from its inputs alone, in a new
  /// tile of shape `shape`.
  mlir::Value map(llvm::ArrayRef<Indexed> inputs, llvm::StringRef loops,
                  llvm::ArrayRef<int64_t> shape, Scalar body);
  /// Applies `body` to each element of one tile.
  mlir::Value map(mlir::Value x, Scalar body);
  /// Builds sum += x y over the loops that sum lacks.
  mlir::Value product(Indexed x, Indexed y, Indexed sum);
  mlir::Value product(Indexed x, Indexed y, llvm::StringRef loops,
                      llvm::ArrayRef<int64_t> shape) {
    return product(x, y, {zeros(shape), loops});
  }

  /// Returns `x` as a matrix product reads it: rounded, if operands are rounded
  /// at all and the target does not opt out.
  mlir::Value rounded(mlir::Value x);

  /// Converts `x` to another float type.
  mlir::Value convert(mlir::Value x, mlir::FloatType to);

  /// Builds: for i = lo .. hi - 1 by `step`, with carried tiles.
  Values loop(mlir::Value lo, mlir::Value hi, int64_t step,
              mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);

  /// Returns entry `i` of the first dimension; a scalar for a vector.
  mlir::Value entry(mlir::Value tile, mlir::Value i);
  mlir::Value withEntry(mlir::Value tile, mlir::Value i, mlir::Value entry);

private:
  /// Maps tiles to the narrow tiles they were widened from or rounded to.
  llvm::DenseMap<mlir::Value, mlir::Value> narrowed;
};

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_CHUNK_TILES_H
