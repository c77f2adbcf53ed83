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

/// A tile and the loops that its dimensions run along, one letter each: with
/// the letters "ij", {x, "j"} is a row that all i share.
struct Indexed {
  mlir::Value tile;
  llvm::StringRef loops;
};

/// Writes what a chunk computes: elementwise maps, sums and products of tiles
/// of static shape, in one float type. Where `narrow` is not null, operands of
/// products of matrices are rounded to it, and exponentials and quotients are
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
  /// So many tiles in a row.
  mlir::Value array(mlir::OpFoldResult count, llvm::ArrayRef<int64_t> shape);

  /// A linalg.generic. Loops that an output lacks are reductions; `body` gets
  /// the elements of inputs, then outputs, and gives those of the outputs.
  Values generic(llvm::ArrayRef<Indexed> inputs,
                 llvm::ArrayRef<Indexed> outputs, Body body);
  /// One result, of its inputs alone, in a new tile of shape `shape`.
  mlir::Value map(llvm::ArrayRef<Indexed> inputs, llvm::StringRef loops,
                  llvm::ArrayRef<int64_t> shape, Scalar body);
  /// map(x) of one tile.
  mlir::Value map(mlir::Value x, Scalar body);
  /// sum += x y over the loops that sum lacks.
  mlir::Value product(Indexed x, Indexed y, Indexed sum);
  mlir::Value product(Indexed x, Indexed y, llvm::StringRef loops,
                      llvm::ArrayRef<int64_t> shape) {
    return product(x, y, {zeros(shape), loops});
  }

  /// What a product of matrices takes for `x`: rounded, if anything is and the
  /// target does not decline that.
  mlir::Value rounded(mlir::Value x);

  /// `x` in another float type.
  mlir::Value convert(mlir::Value x, mlir::FloatType to);

  /// for i = lo .. hi - 1 by `step`, with carried tiles.
  Values loop(mlir::Value lo, mlir::Value hi, int64_t step,
              mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);

  /// Entry `i` of the first dimension; a scalar for a vector.
  mlir::Value entry(mlir::Value tile, mlir::Value i);
  mlir::Value withEntry(mlir::Value tile, mlir::Value i, mlir::Value entry);

private:
  /// What tiles were widened from or rounded to.
  llvm::DenseMap<mlir::Value, mlir::Value> narrowed;
};

} // namespace drawloom::linrec

#endif // DRAWLOOM_DIALECTS_LINREC_CHUNK_TILES_H
