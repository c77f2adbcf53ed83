//===- Accumulators.h - sums of products by mma.sync ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_ACCUMULATORS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_ACCUMULATORS_H

#include "codegen/nvptx/lower/ThreadProgram.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {

/// The sums that a thread holds of a product by mma.sync: those of tiles of
/// 16 x 8, at every row of `rows` and every column of `columns`. In a tile,
/// with g = lane / 4 and t = lane % 4, a thread has c0 and c1 in row g, columns
/// 2 t and 2 t + 1, and c2 and c3 in row g + 8.
class Accumulators {
public:
  Accumulators(ThreadProgram &program, tile::DotOp op);

  /// Adds the product of two fragments to a tile, by the instruction that takes
  /// `depth` steps at a time.
  void add(int64_t row, int64_t column, const Registers &a, const Registers &b,
           int64_t depth, mlir::NVVM::MMATypes type);
  /// Returns what a warp's part of the rows (dimension 0) or columns (1) of the
  /// result adds to an address, where these are `stride` elements apart.
  ThreadBits warpBits(int64_t dim, int64_t stride) const;
  /// Returns the registers of the result.
  const Registers &sums() const { return registers; }
  const tile::Layout &resultLayout() const { return layout; }

  /// Where the tiles of a warp are.
  llvm::SmallSetVector<int64_t, 8> rows, columns;

private:
  ThreadProgram &program;
  tile::DotOp op;
  tile::Layout layout;
  Registers registers;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_ACCUMULATORS_H
