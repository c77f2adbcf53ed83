//===- Layout.h - which thread holds which element of a tile ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is distributed over the registers of the threads of a block. Its
// layout is a list of digits: each coordinate of the tile is a number in mixed
// radix, and each of its digits belongs to the register number, the lane or the
// warp. A lane's or warp's digit is a bit, as in hardware; a register's digit
// may have any extent, which allows widths such as 24 or 96. Layouts are closed
// under these operations: transposing, slicing, broadcasting or reshaping a
// tile renames its digits, and whether two layouts differ between threads is
// decided by comparing lists.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_DIALECT_LAYOUT_H
#define DRAWLOOM_CODEGEN_NVPTX_DIALECT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace drawloom::tile {

/// One digit: it counts 0 .. extent - 1 and is worth `stride` elements along
/// `dim`. With dim -1 it is worth nothing: the threads that differ in it hold
/// the same elements.
struct Digit {
  int64_t dim = -1, stride = 0, extent = 2;
  bool replicated() const { return dim < 0; }
  bool operator==(const Digit &other) const {
    return dim == other.dim && stride == other.stride && extent == other.extent;
  }
};

class Layout {
public:
  static constexpr int64_t laneBits = 5;

  /// The first digit of each list counts fastest.
  llvm::SmallVector<Digit> registers, lanes, warps;

  bool operator==(const Layout &other) const {
    return registers == other.registers && lanes == other.lanes &&
           warps == other.warps;
  }

  int64_t registerCount() const;
  int64_t warpCount() const { return int64_t(1) << warps.size(); }

  /// Returns the coordinates that register `index` adds to the thread's own.
  llvm::SmallVector<int64_t> registerOffset(int64_t index, int64_t rank) const;
  /// Returns the coordinates of a thread's first element.
  llvm::SmallVector<int64_t> threadOffset(int64_t lane, int64_t warp,
                                          int64_t rank) const;
  /// Returns the register that adds these coordinates, if there is one.
  std::optional<int64_t> registerAt(llvm::ArrayRef<int64_t> coordinates) const;

  /// Returns the extents that the digits cover: at least those of the tile.
  /// Elements beyond the tile's own extents are padding.
  llvm::SmallVector<int64_t> extents(int64_t rank) const;

  /// Returns nothing if the layout holds each element of a tile of this shape;
  /// otherwise describes the problem.
  std::optional<std::string> check(llvm::ArrayRef<int64_t> shape) const;

  /// Returns whether every element is in the same threads in both layouts, so
  /// that converting between them only renames registers.
  bool sameThreads(const Layout &other) const {
    return lanes == other.lanes && warps == other.warps;
  }

  /// Returns the layout of a tile whose dimension i is this layout's `dims[i]`;
  /// other dimensions become replication. This is the layout of the source of a
  /// broadcast to this layout, of the result of a reduction, and, if dims is a
  /// permutation, of the transposed tile.
  Layout project(llvm::ArrayRef<int64_t> dims) const;

  /// Returns the layout of the partial results after each thread has combined
  /// its own registers along `dims`: these dimensions have one element for each
  /// bit of lanes and warps that distinguished elements.
  Layout sharesAlong(llvm::ArrayRef<int64_t> dims) const;

  /// Returns how many consecutive registers, from the first on, hold neighbours
  /// along `dim`.
  int64_t contiguousAlong(int64_t dim) const;

  /// A dimension cut into equal runs of neighbours: each run is in one thread,
  /// and the runs are numbered by bits of the lane, the lowest bit first.
  struct Runs {
    int64_t length;
    llvm::SmallVector<int64_t, 5> lanes;
  };
  /// Returns nothing if `dim`, of `extent` elements, is not cut into such runs,
  /// or if lanes hold runs beyond its end, which would affect the result.
  std::optional<Runs> runsAlong(int64_t dim, int64_t extent) const;
};

/// Returns the smallest extent from `size` on whose odd factor is at most 5, to
/// which a dimension is padded. An odd digit stays in one thread, so that
/// larger odd factors cost registers where padding costs arithmetic.
int64_t paddedExtent(int64_t size, int64_t multiple = 1);

/// Returns the layout of a tile whose rows are summed: few columns per thread.
Layout columnsLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// Returns a layout in which neighbouring threads hold neighbouring elements of
/// the last dimension, up to `vector` elements each.
Layout blockedLayout(llvm::ArrayRef<int64_t> shape, int64_t vector,
                     int64_t warps);

/// Returns the layout for running sums along dimension 0 of a vector or matrix:
/// rows in runs, of four rows for a matrix whatever the number of warps, so
/// that rounding does not depend on it. Returns nothing if there are too few
/// rows.
std::optional<Layout> scanLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// Returns the layout for triangular systems with one column per right-hand
/// side, if there are fewer columns than threads and the number of rows is
/// divisible accordingly: every second, fourth or eighth row of a column is in
/// the same lane. Returns nothing otherwise.
std::optional<Layout> solveLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// Returns the layout of the same elements in row-major order in another shape,
/// if digits can express it.
std::optional<Layout> reshaped(const Layout &layout,
                               llvm::ArrayRef<int64_t> from,
                               llvm::ArrayRef<int64_t> to);

/// Returns the layout of the result of mma.sync m16n8kN over a tile of M x N,
/// with warps along M first (PTX ISA, matrix fragments for mma.m16n8k16:
/// accumulators).
///
/// The instructions leave pairs of neighbouring columns in a thread. Since the
/// assignment of columns to instructions is free, 2, 4 or 8 `neighbours` can be
/// made adjacent, which allows wider stores.
Layout accumulatorLayout(int64_t m, int64_t n, int64_t warpsM, int64_t warpsN,
                         int64_t neighbours = 2);
/// Returns the largest number of neighbours, up to `most`, that a thread can
/// have.
int64_t accumulatorNeighbours(int64_t n, int64_t warpsN, int64_t most);
/// Returns the column of the tile that the instructions use as their column
/// `position`.
int64_t accumulatorColumn(int64_t position, int64_t neighbours);
/// Returns the inverse of accumulatorColumn.
int64_t accumulatorPosition(int64_t column, int64_t neighbours);
/// Returns the layout of mma.sync's left operand, M x K of 16-bit elements.
/// Rows are distributed over the warps as in the result.
Layout leftOperandLayout(int64_t m, int64_t k, int64_t warpsM, int64_t warpsN);

/// Returns the layout of the accumulators of an f32 product by fused
/// multiply-adds: each thread has a few rows by four columns.
Layout outerProductLayout(int64_t m, int64_t n, int64_t warps);

} // namespace drawloom::tile

#endif // DRAWLOOM_CODEGEN_NVPTX_DIALECT_LAYOUT_H
