//===- Layout.h - which thread holds which element of a tile ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is spread over the registers of the threads of a block. Its layout is
// a list of digits: each coordinate of the tile is a number in mixed radix, and
// each digit of it belongs to the register number, the lane or the warp. A
// lane's or warp's digit is a bit, as hardware numbers them; a register's may
// be any number, which is how a width of 24 or 96 is said. So layouts are a
// closed algebra: to transpose, slice, broadcast or reshape a tile is to rename
// its digits, and whether two layouts differ between threads is a comparison of
// lists.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_TILE_LAYOUT_H
#define DRAWLOOM_CODEGEN_NVPTX_TILE_LAYOUT_H

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

  /// The first digit of each counts fastest.
  llvm::SmallVector<Digit> registers, lanes, warps;

  bool operator==(const Layout &other) const {
    return registers == other.registers && lanes == other.lanes &&
           warps == other.warps;
  }

  int64_t registerCount() const;
  int64_t warpCount() const { return int64_t(1) << warps.size(); }

  /// Coordinates of what register `index` adds to a thread's own.
  llvm::SmallVector<int64_t> registerOffset(int64_t index, int64_t rank) const;
  /// Coordinates of the first element of a thread.
  llvm::SmallVector<int64_t> threadOffset(int64_t lane, int64_t warp,
                                          int64_t rank) const;
  /// The register that adds these coordinates, if there is one.
  std::optional<int64_t> registerAt(llvm::ArrayRef<int64_t> coordinates) const;

  /// The extents that the digits count through: at least those of the tile, or
  /// it could not hold it. What is beyond the tile's own is padding.
  llvm::SmallVector<int64_t> extents(int64_t rank) const;

  /// Nothing if the layout holds each element of a tile of this shape;
  /// otherwise what is wrong.
  std::optional<std::string> check(llvm::ArrayRef<int64_t> shape) const;

  /// Whether every element is in the same threads in both: going from one to
  /// the other renames registers.
  bool sameThreads(const Layout &other) const {
    return lanes == other.lanes && warps == other.warps;
  }

  /// The layout of a tile whose dimension i is this one's `dims[i]`; what the
  /// other dimensions tell apart is replicated. So it is that of what is
  /// broadcast to this layout, of what remains of it after a reduction, and,
  /// if dims is a permutation, of the transposed tile.
  Layout project(llvm::ArrayRef<int64_t> dims) const;

  /// The layout of what each thread has after it combined its own registers
  /// along `dims`: there an element for each bit of lanes and warps that told
  /// elements apart.
  Layout sharesAlong(llvm::ArrayRef<int64_t> dims) const;

  /// Registers in a row from the first on that are neighbours along `dim`.
  int64_t contiguousAlong(int64_t dim) const;

  /// A dimension cut into equal runs of neighbours: each is in one thread, and
  /// the runs are counted by bits of the lane, the lowest bit first.
  struct Runs {
    int64_t length;
    llvm::SmallVector<int64_t, 5> lanes;
  };
  /// Nothing where `dim`, of `extent` elements, is cut otherwise, or where
  /// lanes have runs beyond its end, which would count.
  std::optional<Runs> runsAlong(int64_t dim, int64_t extent) const;
};

/// The smallest extent from `size` on whose odd factor is at most 5: what a
/// dimension is padded to. An odd digit stays in one thread, so that a larger
/// one costs registers where padding costs arithmetic.
int64_t paddedExtent(int64_t size, int64_t multiple = 1);

/// The layout of a tile whose rows are added up: few columns to a thread.
Layout columnsLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// Neighbouring threads hold neighbouring elements of the last dimension, up
/// to `vector` elements each.
Layout blockedLayout(llvm::ArrayRef<int64_t> shape, int64_t vector,
                     int64_t warps);

/// For running sums along dimension 0 of a vector or matrix: rows in runs, four
/// of a matrix, whatever the number of warps, so that no rounding depends on
/// that. Nothing where there are too few rows.
std::optional<Layout> scanLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// For triangular systems with a column for each right-hand side, where there
/// are fewer columns than threads and the number of rows is a multiple: every
/// second, fourth or eighth row of one is in the same lane. Nothing otherwise.
std::optional<Layout> solveLayout(llvm::ArrayRef<int64_t> shape, int64_t warps);

/// The layout of the same elements in row-major order in another shape, if the
/// digits of this one can say it.
std::optional<Layout> reshaped(const Layout &layout,
                               llvm::ArrayRef<int64_t> from,
                               llvm::ArrayRef<int64_t> to);

/// The result of mma.sync m16n8kN over a tile of M x N, warps along M first
/// (PTX ISA, matrix fragments for mma.m16n8k16: accumulators).
///
/// The instructions leave pairs of neighbouring columns in a thread. Since it
/// is free which columns an instruction takes, `neighbours` of them, 2, 4 or 8,
/// can be neighbours, and leave by wider stores.
Layout accumulatorLayout(int64_t m, int64_t n, int64_t warpsM, int64_t warpsN,
                         int64_t neighbours = 2);
/// The largest number of neighbours, up to `most`, that a thread can have.
int64_t accumulatorNeighbours(int64_t n, int64_t warpsN, int64_t most);
/// Column of the tile that the instructions take as their column `position`.
int64_t accumulatorColumn(int64_t position, int64_t neighbours);
/// The other way round.
int64_t accumulatorPosition(int64_t column, int64_t neighbours);
/// Its left operand, M x K of 16-bit elements. Rows are spread over the warps
/// as in the result.
Layout leftOperandLayout(int64_t m, int64_t k, int64_t warpsM, int64_t warpsN);

/// The sums of an f32 product by fused multiply-adds: each thread a few rows
/// by four columns.
Layout outerProductLayout(int64_t m, int64_t n, int64_t warps);

} // namespace drawloom::tile

#endif // DRAWLOOM_CODEGEN_NVPTX_TILE_LAYOUT_H
