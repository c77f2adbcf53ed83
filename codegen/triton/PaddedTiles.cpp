//===- PaddedTiles.cpp - elements and shapes of padded tiles --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/PaddedTiles.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void PaddedTiles::unify(SmallVectorImpl<Ssa> &values) {
  SmallVector<int64_t> shape;
  for (const Ssa &value : values) {
    if (value.isScalar())
      continue;
    if (shape.empty())
      shape.assign(value.shape.size(), 1);
    for (auto [extent, own] : llvm::zip(shape, value.shape))
      extent = std::max(extent, own);
  }
  for (Ssa &value : values)
    value = print.broadcast(value, shape);
}

Ssa PaddedTiles::arithmetic(StringRef name, Ssa a, Ssa b) {
  SmallVector<Ssa> pair = {a, b};
  unify(pair);
  return print.same(name, pair);
}

Ssa PaddedTiles::arithmetic(StringRef name, const Ssa &a, int64_t b) {
  if ((name == "arith.muli" && b == 1) || (name == "arith.addi" && b == 0))
    return a;
  return print.same(name, {a, print.constant(a.element, b, a.shape)});
}

Ssa PaddedTiles::both(const Ssa &a, const Ssa &b) {
  return a && b ? arithmetic("arith.andi", a, b) : a ? a : b;
}

Ssa PaddedTiles::along(Ssa line, int64_t axis, int64_t rank) {
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      line = print.expandDims(line, i);
  return line;
}

Ssa PaddedTiles::below(const Ssa &limit, int64_t dimension,
                       ArrayRef<int64_t> shape) {
  Ssa index = print.iota(shape[dimension], dimension, shape.size());
  return print.compare("arith.cmpi", "slt", index,
                       print.broadcast(limit, index.shape));
}

Ssa PaddedTiles::insideMask(ArrayRef<int64_t> extents, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> dimensions) {
  Ssa mask;
  for (int64_t i : dimensions) {
    if (extents[i] == shape[i])
      continue;
    Ssa index = print.iota(shape[i], i, shape.size());
    mask = both(
        print.compare("arith.cmpi", "slt", index,
                      print.constant(print.i32(), extents[i], index.shape)),
        mask);
  }
  return mask;
}

Ssa PaddedTiles::fillPadding(const Tile &tile, ArrayRef<int64_t> dimensions,
                             const Ssa &number) {
  ArrayRef<int64_t> shape = tile.value.shape;
  Ssa mask = insideMask(tile.extents, shape, dimensions);
  return mask ? print.select(print.broadcast(mask, shape), tile.value, number)
              : tile.value;
}

Ssa PaddedTiles::clamp(const Ssa &indices, int64_t extent) {
  return arithmetic("arith.minsi", arithmetic("arith.maxsi", indices, 0),
                    extent - 1);
}

Ssa PaddedTiles::take(const Ssa &value, const Ssa &indices, int64_t axis) {
  SmallVector<int64_t> shape(value.shape);
  shape[axis] = indices.shape[0];
  Ssa spread = print.broadcast(along(indices, axis, shape.size()), shape);
  // Bits are gathered as bytes.
  if (value.element.isInteger(1)) {
    Type byte = IntegerType::get(value.element.getContext(), 8);
    Ssa bytes =
        print.gather(convertInteger(print, value, byte, false), spread, axis);
    return print.compare("arith.cmpi", "ne", bytes,
                         print.constant(byte, 0, bytes.shape));
  }
  return print.gather(value, spread, axis);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Whether padding stays behind the elements in the flat order: only the first
/// extent that is not 1 may be no power of two.
static bool isPaddedBehind(ArrayRef<int64_t> extents) {
  extents = extents.drop_while([](int64_t extent) { return extent == 1; });
  return llvm::all_of(
      extents.drop_front(extents.empty() ? 0 : 1),
      [](int64_t extent) { return llvm::isPowerOf2_64(extent); });
}

Tile PaddedTiles::reshape(const Tile &tile, ArrayRef<int64_t> extents) {
  // Dimensions in front and behind that stay as they are.
  ArrayRef<int64_t> from = tile.extents, to = extents;
  size_t front = 0, back = 0;
  while (front < std::min(from.size(), to.size()) && from[front] == to[front])
    ++front;
  while (back + front < std::min(from.size(), to.size()) &&
         from[from.size() - 1 - back] == to[to.size() - 1 - back])
    ++back;
  from = from.slice(front, from.size() - front - back);
  to = to.slice(front, to.size() - front - back);
  SmallVector<int64_t> shape = paddedShape(extents);
  int64_t count = ShapedType::getNumElements(paddedShape(from));
  int64_t wanted = ShapedType::getNumElements(paddedShape(to));
  if (count == wanted && isPaddedBehind(from) && isPaddedBehind(to))
    return {print.reshape(tile.value, shape), SmallVector<int64_t>(extents),
            tile.zeroPadding};
  // What lies between as one dimension, where each element of the result is
  // looked up: its number among all elements, and the place of that.
  SmallVector<int64_t> flat =
      paddedShape(ArrayRef(tile.extents).take_front(front));
  flat.push_back(count);
  flat.append(tile.value.shape.end() - back, tile.value.shape.end());
  Ssa places = print.iota(wanted, 0, 1);
  auto renumber = [&](ArrayRef<int64_t> divided, ArrayRef<int64_t> scaled) {
    Ssa sum;
    int64_t divisor = 1, factor = 1;
    for (auto [own, other] :
         llvm::zip(llvm::reverse(divided), llvm::reverse(scaled))) {
      Ssa term = arithmetic("arith.divsi", places, divisor);
      term = arithmetic("arith.muli", arithmetic("arith.remsi", term, own),
                        factor);
      sum = sum ? arithmetic("arith.addi", sum, term) : term;
      divisor *= own;
      factor *= other;
    }
    places = sum ? sum : places;
  };
  renumber(paddedShape(to), to);
  renumber(from, paddedShape(from));
  Ssa moved =
      take(print.reshape(tile.value, flat), clamp(places, count), front);
  return {print.reshape(moved, shape), SmallVector<int64_t>(extents)};
}

Ssa PaddedTiles::grow(const Ssa &value, int64_t dimension, int64_t extent) {
  int64_t own = value.shape[dimension];
  if (own >= extent)
    return value;
  // [.., own, ..] -> [.., copies, own, ..], all but the first copy zero.
  Ssa copies = print.expandDims(value, dimension);
  SmallVector<int64_t> shape(copies.shape), merged(value.shape);
  merged[dimension] = extent;
  shape[dimension] = extent / own;
  Ssa isFirst = below(print.constant(print.i32(), 1), dimension, shape);
  copies = print.select(print.broadcast(isFirst, shape),
                        print.broadcast(copies, shape),
                        print.constant(value.element, 0, shape));
  return print.reshape(copies, merged);
}

Ssa PaddedTiles::shrink(const Ssa &value, int64_t dimension, int64_t extent) {
  if (value.shape[dimension] <= extent)
    return value;
  return take(value, print.iota(extent, 0, 1), dimension);
}
