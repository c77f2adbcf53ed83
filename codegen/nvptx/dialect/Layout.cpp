//===- Layout.cpp - which thread holds which element of a tile ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/dialect/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace drawloom::tile {

int64_t Layout::registerCount() const {
  int64_t count = 1;
  for (const Digit &digit : registers)
    count *= digit.extent;
  return count;
}

static void addDigits(ArrayRef<Digit> digits, int64_t index,
                      SmallVector<int64_t> &coordinates) {
  for (const Digit &digit : digits) {
    if (!digit.replicated())
      coordinates[digit.dim] += index % digit.extent * digit.stride;
    index /= digit.extent;
  }
}

SmallVector<int64_t> Layout::registerOffset(int64_t index, int64_t rank) const {
  SmallVector<int64_t> coordinates(rank, 0);
  addDigits(registers, index, coordinates);
  return coordinates;
}

SmallVector<int64_t> Layout::threadOffset(int64_t lane, int64_t warp,
                                          int64_t rank) const {
  SmallVector<int64_t> coordinates(rank, 0);
  addDigits(lanes, lane, coordinates);
  addDigits(warps, warp, coordinates);
  return coordinates;
}

std::optional<int64_t> Layout::registerAt(ArrayRef<int64_t> coordinates) const {
  SmallVector<int64_t> rest(coordinates);
  int64_t index = 0, scale = 1;
  SmallVector<std::pair<Digit, int64_t>> digits;
  for (const Digit &digit : registers) {
    digits.push_back({digit, scale});
    scale *= digit.extent;
  }
  llvm::stable_sort(digits, [](const auto &a, const auto &b) {
    return a.first.stride > b.first.stride;
  });
  for (const auto &[digit, place] : digits) {
    int64_t value = std::min(rest[digit.dim] / digit.stride, digit.extent - 1);
    rest[digit.dim] -= value * digit.stride;
    index += value * place;
  }
  if (llvm::any_of(rest, [](int64_t left) { return left != 0; }))
    return std::nullopt;
  return index;
}

SmallVector<int64_t> Layout::extents(int64_t rank) const {
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<Digit> digits :
       {ArrayRef(registers), ArrayRef(lanes), ArrayRef(warps)})
    for (const Digit &digit : digits)
      if (!digit.replicated())
        result[digit.dim] *= digit.extent;
  return result;
}

std::optional<std::string> Layout::check(ArrayRef<int64_t> shape) const {
  if (lanes.size() != laneBits)
    return "has " + std::to_string(lanes.size()) + " bits of the lane, not 5";
  SmallVector<SmallVector<Digit>> byDim(shape.size());
  for (ArrayRef<Digit> digits :
       {ArrayRef(registers), ArrayRef(lanes), ArrayRef(warps)})
    for (const Digit &digit : digits) {
      if (digit.replicated())
        continue;
      if (digit.dim >= static_cast<int64_t>(shape.size()))
        return "names dimension " + std::to_string(digit.dim) +
               " of a tile of rank " + std::to_string(shape.size());
      byDim[digit.dim].push_back(digit);
    }
  for (ArrayRef<Digit> digits : {ArrayRef(lanes), ArrayRef(warps)})
    for (const Digit &digit : digits)
      if (digit.extent != 2)
        return "gives a lane or a warp a digit of " +
               std::to_string(digit.extent) + " values: it has bits";
  if (llvm::any_of(registers, [](const Digit &d) { return d.replicated(); }))
    return "replicates registers";
  for (auto [dim, digits] : llvm::enumerate(byDim)) {
    llvm::sort(digits, [](const Digit &a, const Digit &b) {
      return a.stride < b.stride;
    });
    int64_t next = 1;
    for (const Digit &digit : digits) {
      if (digit.stride != next)
        return "has no digit of stride " + std::to_string(next) +
               " along dimension " + std::to_string(dim);
      next *= digit.extent;
    }
    if (next < shape[dim])
      return "holds " + std::to_string(next) + " of the " +
             std::to_string(shape[dim]) + " elements along dimension " +
             std::to_string(dim);
  }
  return std::nullopt;
}

Layout Layout::project(ArrayRef<int64_t> dims) const {
  auto rename = [&](Digit digit) {
    if (digit.replicated())
      return digit;
    const auto *place = llvm::find(dims, digit.dim);
    if (place == dims.end())
      return Digit{-1, 0, digit.extent};
    digit.dim = place - dims.begin();
    return digit;
  };
  Layout result;
  for (const Digit &digit : registers)
    if (Digit renamed = rename(digit); !renamed.replicated())
      result.registers.push_back(renamed);
  for (const Digit &digit : lanes)
    result.lanes.push_back(rename(digit));
  for (const Digit &digit : warps)
    result.warps.push_back(rename(digit));
  return result;
}

Layout Layout::sharesAlong(ArrayRef<int64_t> dims) const {
  Layout shares;
  for (const Digit &digit : registers)
    if (!llvm::is_contained(dims, digit.dim))
      shares.registers.push_back(digit);
  SmallVector<int64_t> strides;
  auto count = [&](ArrayRef<Digit> digits, SmallVector<Digit> &result) {
    for (Digit digit : digits) {
      if (!digit.replicated() && llvm::is_contained(dims, digit.dim)) {
        if (digit.dim >= static_cast<int64_t>(strides.size()))
          strides.resize(digit.dim + 1, 1);
        digit.stride = strides[digit.dim];
        strides[digit.dim] *= digit.extent;
      }
      result.push_back(digit);
    }
  };
  count(lanes, shares.lanes);
  count(warps, shares.warps);
  return shares;
}

int64_t Layout::contiguousAlong(int64_t dim) const {
  int64_t count = 1;
  for (const Digit &digit : registers) {
    if (digit.dim != dim || digit.stride != count)
      break;
    count *= digit.extent;
  }
  return count;
}

std::optional<Layout> reshaped(const Layout &layout, ArrayRef<int64_t> from,
                               ArrayRef<int64_t> to) {
  // Padding would end up between elements.
  if (layout.extents(from.size()) != SmallVector<int64_t>(from))
    return std::nullopt;
  SmallVector<int64_t> weights(from.size(), 1);
  for (int64_t dim = static_cast<int64_t>(from.size()) - 2; dim >= 0; --dim)
    weights[dim] = weights[dim + 1] * from[dim + 1];
  auto rename = [&](ArrayRef<Digit> digits, bool registers,
                    SmallVector<Digit> &result) {
    for (Digit digit : digits) {
      if (digit.replicated()) {
        result.push_back(digit);
        continue;
      }
      // Where the digit counts in the linear order, piece by piece of the
      // dimensions there, the last of which counts fastest.
      int64_t weight = digit.stride * weights[digit.dim];
      int64_t below = 1;
      for (int64_t dim = static_cast<int64_t>(to.size()) - 1;
           dim >= 0 && digit.extent > 1; --dim) {
        int64_t above = below * to[dim];
        if (weight < above) {
          if (weight % below != 0)
            return false;
          int64_t stride = weight / below;
          int64_t room = to[dim] / stride;
          int64_t piece = std::min(digit.extent, room);
          if (to[dim] % stride != 0 || digit.extent % piece != 0 ||
              (piece != digit.extent && !registers))
            return false;
          result.push_back({dim, stride, piece});
          digit.extent /= piece;
          weight *= piece;
        }
        below = above;
      }
      if (digit.extent > 1)
        return false;
    }
    return true;
  };
  Layout result;
  if (!rename(layout.registers, true, result.registers) ||
      !rename(layout.lanes, false, result.lanes) ||
      !rename(layout.warps, false, result.warps) || result.check(to))
    return std::nullopt;
  return result;
}

int64_t paddedExtent(int64_t size, int64_t multiple) {
  int64_t padded = llvm::alignTo(std::max<int64_t>(size, 1), multiple);
  while (padded >> llvm::countr_zero(static_cast<uint64_t>(padded)) > 5)
    padded += multiple;
  return padded;
}

namespace {
/// Hands out a dimension's elements digit by digit, from stride 1 on.
class Dispenser {
public:
  Dispenser(int64_t dim, int64_t extent) : dim(dim), left(extent) {}
  bool hasBit() const { return left % 2 == 0; }
  bool done() const { return left == 1; }
  Digit take(int64_t extent) {
    Digit digit{dim, stride, extent};
    assert(left % extent == 0 && "digits divide the extent");
    left /= extent;
    stride *= extent;
    return digit;
  }
  Digit takeAll() { return take(left); }
  int64_t remaining() const { return left; }

private:
  int64_t dim, stride = 1, left;
};
} // namespace

Layout columnsLayout(ArrayRef<int64_t> shape, int64_t warps) {
  Layout layout;
  int64_t column = 1, row = 1;
  auto takes = [&](int64_t dim, int64_t &stride) {
    if (shape[dim] % (2 * stride) != 0)
      return false;
    stride *= 2;
    return true;
  };
  for (int64_t bit = 0; bit < Layout::laneBits; ++bit) {
    // Eight columns are sixteen bytes, which four rows have in other banks.
    if (bit < 3 && takes(1, column))
      layout.lanes.push_back({1, column / 2, 2});
    else if (takes(0, row))
      layout.lanes.push_back({0, row / 2, 2});
    else
      layout.lanes.push_back(tile::Digit());
  }
  for (int64_t count = 1; count < warps; count *= 2) {
    if (takes(1, column))
      layout.warps.push_back({1, column / 2, 2});
    else if (takes(0, row))
      layout.warps.push_back({0, row / 2, 2});
    else
      layout.warps.push_back(tile::Digit());
  }
  if (shape[1] > column)
    layout.registers.push_back({1, column, shape[1] / column});
  if (shape[0] > row)
    layout.registers.push_back({0, row, shape[0] / row});
  return layout;
}

Layout blockedLayout(ArrayRef<int64_t> shape, int64_t vector, int64_t warps) {
  SmallVector<Dispenser> dims;
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t padded = paddedExtent(size);
    elements *= padded;
    dims.push_back(Dispenser(dim, padded));
  }
  Layout layout;
  // A thread takes neighbours only where all threads have something to take.
  int64_t share = std::max<int64_t>(1, elements / (32 * warps));
  if (!dims.empty())
    for (int64_t width = 2; width <= std::min(vector, share); width *= 2)
      if (dims.back().hasBit())
        layout.registers.push_back(dims.back().take(2));
  auto takeBits = [&](SmallVector<Digit> &into, size_t count) {
    for (Dispenser &dim : llvm::reverse(dims))
      while (into.size() < count && dim.hasBit())
        into.push_back(dim.take(2));
    while (into.size() < count)
      into.push_back(Digit());
  };
  takeBits(layout.lanes, Layout::laneBits);
  takeBits(layout.warps, llvm::Log2_64(warps));
  for (Dispenser &dim : llvm::reverse(dims))
    if (!dim.done())
      layout.registers.push_back(dim.takeAll());
  return layout;
}

std::optional<Layout::Runs> Layout::runsAlong(int64_t dim,
                                              int64_t extent) const {
  Runs runs{1, {}};
  for (Digit digit : registers)
    if (digit.dim == dim) {
      if (digit.stride != runs.length)
        return std::nullopt;
      runs.length *= digit.extent;
    }
  int64_t stride = runs.length;
  for (auto [bit, digit] : llvm::enumerate(lanes))
    if (digit.dim == dim) {
      if (digit.stride != stride)
        return std::nullopt;
      runs.lanes.push_back(bit);
      stride *= 2;
    }
  if (llvm::any_of(warps, [&](Digit digit) { return digit.dim == dim; }) ||
      (!runs.lanes.empty() && stride != extent))
    return std::nullopt;
  return runs;
}

std::optional<Layout> scanLayout(ArrayRef<int64_t> shape, int64_t warps) {
  if (shape.size() > 2 || shape.empty())
    return std::nullopt;
  bool isVector = shape.size() == 1;
  int64_t rows = shape[0], columns = isVector ? 1 : shape[1];
  int64_t rowBits = isVector ? Layout::laneBits : 2;
  while (isVector && rowBits > 0 && rows % (int64_t(1) << rowBits) != 0)
    --rowBits;
  int64_t runs = int64_t(1) << rowBits;
  if (rowBits == 0 || rows % runs != 0 || (rows < 2 * runs && !isVector))
    return std::nullopt;
  // Neighbouring threads have neighbouring columns.
  Layout layout;
  int64_t stride = 1;
  auto takeColumns = [&](SmallVector<Digit> &into, int64_t bits) {
    for (int64_t i = 0; i < bits; ++i) {
      into.push_back(stride < columns ? Digit{1, stride, 2} : Digit());
      if (stride < columns)
        stride *= 2;
    }
  };
  int64_t warpBits = llvm::Log2_64(warps);
  int64_t threads = (int64_t(1) << (Layout::laneBits - rowBits)) * warps;
  for (int64_t vector = 2; vector <= 4 && columns % (threads * vector) == 0;
       vector *= 2)
    takeColumns(layout.registers, 1);
  layout.registers.push_back({0, 1, rows / runs});
  takeColumns(layout.lanes, Layout::laneBits - rowBits);
  for (int64_t i = 0; i < rowBits; ++i)
    layout.lanes.push_back({0, (rows / runs) << i, 2});
  takeColumns(layout.warps, warpBits);
  if (stride < columns)
    layout.registers.push_back({1, stride, (columns + stride - 1) / stride});
  return layout;
}

/// Lanes that share a column of a triangular system, as a power of 2: each row
/// is handed to all of them, however few rows each has.
static constexpr int64_t mostRowBits = 3;

std::optional<Layout> solveLayout(ArrayRef<int64_t> shape, int64_t warps) {
  int64_t rows = shape[0], columns = shape[1];
  int64_t threadBits = Layout::laneBits + llvm::Log2_64(warps);
  int64_t columnBits = llvm::Log2_64_Ceil(columns);
  int64_t rowBits = std::min<int64_t>(threadBits - columnBits, mostRowBits);
  // Half of the rows at least remain for registers.
  while (rowBits > 0 && rows % (int64_t(2) << rowBits) != 0)
    --rowBits;
  if (rowBits <= 0)
    return std::nullopt;
  Layout layout;
  int64_t stride = 1;
  auto takeColumns = [&](SmallVector<Digit> &into, int64_t bits) {
    for (int64_t i = 0; i < bits; ++i, stride *= 2)
      into.push_back(stride < columns ? Digit{1, stride, 2} : Digit());
  };
  takeColumns(layout.lanes, Layout::laneBits - rowBits);
  for (int64_t i = 0; i < rowBits; ++i)
    layout.lanes.push_back({0, int64_t(1) << i, 2});
  takeColumns(layout.warps, threadBits - Layout::laneBits);
  layout.registers.push_back({0, int64_t(1) << rowBits, rows >> rowBits});
  return layout;
}

int64_t accumulatorNeighbours(int64_t n, int64_t warpsN, int64_t most) {
  // Columns beyond the tile would lie between its own.
  if (paddedExtent(n, 8 * warpsN) != n)
    return 2;
  int64_t perWarp = n / 8 / warpsN;
  // Warps that share an odd number of instructions interleave their columns.
  bool interleaved = warpsN > 1 && (perWarp & (perWarp - 1)) != 0;
  int64_t neighbours = 2;
  while (!interleaved && neighbours < most && perWarp % neighbours == 0)
    neighbours *= 2;
  return neighbours;
}

int64_t accumulatorColumn(int64_t position, int64_t neighbours) {
  int64_t unit = 4 * neighbours, at = position % unit;
  return position - at + at % 2 + at / 2 % 4 * neighbours + at / 8 * 2;
}

int64_t accumulatorPosition(int64_t column, int64_t neighbours) {
  int64_t unit = 4 * neighbours, at = column % unit;
  return column - at + at % 2 + at / neighbours * 2 + at % neighbours / 2 * 8;
}

Layout accumulatorLayout(int64_t m, int64_t n, int64_t warpsM, int64_t warpsN,
                         int64_t neighbours) {
  assert(accumulatorNeighbours(n, warpsN, neighbours) == neighbours &&
         "a thread has as many columns");
  Dispenser rows(0, llvm::alignTo(m, 16 * warpsM));
  Dispenser columns(1, paddedExtent(n, 8 * warpsN));
  Layout layout;
  for (int64_t i = 1; i < neighbours; i *= 2)
    layout.registers.push_back(columns.take(2));
  layout.lanes.push_back(columns.take(2));
  layout.lanes.push_back(columns.take(2));
  for (int i = 0; i < 3; ++i)
    layout.lanes.push_back(rows.take(2));
  layout.registers.push_back(rows.take(2));
  for (int64_t i = 1; i < warpsM; i *= 2)
    layout.warps.push_back(rows.take(2));
  // The columns of a warp are neighbours: its bits are the last of the power
  // of two in the extent.
  int64_t perWarp = columns.remaining() / warpsN;
  if (perWarp & (perWarp - 1)) {
    for (int64_t i = 1; i < warpsN; i *= 2)
      layout.warps.push_back(columns.take(2));
  } else if (warpsN > 1) {
    if (perWarp > 1)
      layout.registers.push_back(columns.take(perWarp));
    for (int64_t i = 1; i < warpsN; i *= 2)
      layout.warps.push_back(columns.take(2));
  }
  if (!columns.done())
    layout.registers.push_back(columns.takeAll());
  if (!rows.done())
    layout.registers.push_back(rows.takeAll());
  return layout;
}

Layout leftOperandLayout(int64_t m, int64_t k, int64_t warpsM, int64_t warpsN) {
  // As the result of a product that no warps share the columns of; K is padded
  // to whole steps of 16.
  Dispenser rows(0, llvm::alignTo(m, 16 * warpsM));
  Dispenser steps(1, paddedExtent(k, 16));
  Layout layout;
  layout.registers.push_back(steps.take(2));
  layout.lanes.push_back(steps.take(2));
  layout.lanes.push_back(steps.take(2));
  for (int i = 0; i < 3; ++i)
    layout.lanes.push_back(rows.take(2));
  layout.registers.push_back(rows.take(2));
  for (int64_t i = 1; i < warpsM; i *= 2)
    layout.warps.push_back(rows.take(2));
  for (int64_t i = 1; i < warpsN; i *= 2)
    layout.warps.push_back(Digit());
  layout.registers.push_back(steps.takeAll());
  if (!rows.done())
    layout.registers.push_back(rows.takeAll());
  return layout;
}

Layout outerProductLayout(int64_t m, int64_t n, int64_t warps) {
  Dispenser rows(0, paddedExtent(m)), columns(1, paddedExtent(n));
  Layout layout;
  // Four columns to a thread, unless other threads would have the same ones.
  int bits = llvm::countr_zero(static_cast<uint64_t>(paddedExtent(m))) +
             llvm::countr_zero(static_cast<uint64_t>(paddedExtent(n)));
  int spare = bits - static_cast<int>(Layout::laneBits) -
              static_cast<int>(llvm::Log2_64(warps));
  for (int i = 0; i < std::min(2, spare); ++i)
    if (columns.hasBit())
      layout.registers.push_back(columns.take(2));
  // Half of a warp along the columns, so that a row of the right operand is
  // read once by both halves.
  auto takeBits = [](SmallVector<Digit> &into, size_t count, Dispenser &from) {
    while (into.size() < count && from.hasBit())
      into.push_back(from.take(2));
  };
  size_t warpBits = llvm::Log2_64(warps);
  takeBits(layout.lanes, 4, columns);
  takeBits(layout.lanes, Layout::laneBits, rows);
  takeBits(layout.lanes, Layout::laneBits, columns);
  takeBits(layout.warps, warpBits, rows);
  takeBits(layout.warps, warpBits, columns);
  layout.lanes.resize(Layout::laneBits);
  layout.warps.resize(warpBits);
  if (!columns.done())
    layout.registers.push_back(columns.takeAll());
  if (!rows.done())
    layout.registers.push_back(rows.takeAll());
  return layout;
}

} // namespace drawloom::tile
