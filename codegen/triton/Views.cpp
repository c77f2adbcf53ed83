//===- Views.cpp - what a Triton kernel reads of memory -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/Views.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

View triton::wholeView(MemRefType type, const Ssa &pointer) {
  View view{pointer, {}, {{}}, {}, type.getElementType().isInteger(1)};
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    view.dimensions.insert(view.dimensions.begin(), {extent, stride, {}});
    stride *= extent;
  }
  return view;
}

View triton::wholeView(const Tile &tile) {
  View view{{}, tile, SmallVector<Offset>(tile.extents.size()), {}};
  for (auto [axis, extent] : llvm::enumerate(tile.extents))
    view.dimensions.push_back({extent, 1, {}, static_cast<int64_t>(axis)});
  return view;
}

Ssa Views::sizeOf(const Dimension &dimension) {
  return dimension.dynamicSize ? dimension.dynamicSize
                               : print.constant(print.i64(), dimension.size);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Ssa Views::baseOf(const View &view) {
  Ssa base = view.pointer;
  const Offset &offset = view.offsets[0];
  if (offset.more)
    base = print.addPointer(base, offset.more);
  if (offset.number != 0)
    base = print.addPointer(base, print.constant(print.i64(), offset.number));
  return base;
}

Ssa Views::elementPointers(const View &view, ArrayRef<int64_t> shape,
                           const Ssa &rows) {
  Ssa base = baseOf(view);
  if (shape.empty())
    return base;
  // Offsets inside of a tile need 64 bits only where its size says so.
  bool wide = false;
  int64_t largest = 0;
  for (auto [i, dimension] : llvm::enumerate(view.dimensions)) {
    int64_t extent = i == 0 && rows ? dimension.size : shape[i];
    wide |= extent == ShapedType::kDynamic;
    largest += extent * dimension.stride;
  }
  wide |= largest > std::numeric_limits<int32_t>::max();
  Type type = wide ? print.i64() : print.i32();
  int64_t rank = shape.size();
  Ssa offsets;
  for (auto [i, dimension] : llvm::enumerate(view.dimensions)) {
    bool isRows = i == 0 && rows;
    if (shape[i] == 1 && !isRows)
      continue;
    Ssa index =
        tiles.arithmetic("arith.muli",
                         convertInteger(print,
                                        isRows ? tiles.along(rows, 0, rank)
                                               : print.iota(shape[i], i, rank),
                                        type),
                         dimension.stride);
    offsets = offsets ? tiles.arithmetic("arith.addi", offsets, index) : index;
  }
  Ssa pointers = print.splat(base, shape);
  if (offsets)
    pointers = print.addPointer(pointers, print.broadcast(offsets, shape));
  return pointers;
}

Ssa Views::accessMask(const View &view, ArrayRef<int64_t> extents,
                      ArrayRef<int64_t> shape) {
  Ssa mask = tiles.insideMask(
      extents, shape, llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  for (auto [i, dimension] : llvm::enumerate(view.dimensions))
    if (dimension.dynamicSize)
      mask = tiles.both(
          mask,
          tiles.below(convertInteger(print, dimension.dynamicSize, print.i32()),
                      i, shape));
  return mask ? print.broadcast(mask, shape) : mask;
}

/// A negative number names no row; padding holds any number.
Ssa Views::rowMask(const Ssa &rows, ArrayRef<int64_t> extents,
                   ArrayRef<int64_t> shape) {
  Ssa named = print.compare("arith.cmpi", "sge", rows,
                            print.constant(rows.element, 0, rows.shape));
  Ssa inside = tiles.insideMask(
      extents, shape, llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  return print.broadcast(
      tiles.both(tiles.along(named, 0, shape.size()), inside), shape);
}

Ssa Views::fromMemory(const Ssa &value, const View &view) {
  if (!view.isBit)
    return value;
  return print.compare("arith.cmpi", "ne", value,
                       print.constant(value.element, 0, value.shape));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Tile Views::load(const View &view, ArrayRef<int64_t> extents) {
  if (view.tile)
    return loadPart(view, extents);
  SmallVector<int64_t> shape = paddedShape(extents);
  Ssa mask = accessMask(view, extents, shape);
  Ssa other = mask ? print.constant(view.pointer.element, 0, shape) : Ssa{};
  Ssa value = print.load(elementPointers(view, shape, {}), mask, other);
  return {fromMemory(value, view), SmallVector<int64_t>(extents),
          /*zeroPadding=*/true};
}

Tile Views::loadPart(const View &view, ArrayRef<int64_t> extents) {
  Ssa value = view.tile->value;
  bool zeroPadding = view.tile->zeroPadding;
  SmallVector<int64_t> shape = paddedShape(extents);
  for (auto [axis, offset] : llvm::enumerate(view.offsets)) {
    int64_t extent = 1, stride = 1, whole = view.tile->extents[axis];
    for (auto [dimension, own] : llvm::zip(view.dimensions, extents))
      if (dimension.axis == static_cast<int64_t>(axis))
        extent = own, stride = dimension.stride;
    if (offset.number == 0 && !offset.more && extent == whole && stride == 1)
      continue;
    Ssa places = tiles.arithmetic(
        "arith.muli", print.iota(powerOfTwoAbove(extent), 0, 1), stride);
    places = tiles.arithmetic("arith.addi", places, offset.number);
    if (offset.more)
      places = tiles.arithmetic(
          "arith.addi", places,
          print.splat(convertInteger(print, offset.more, print.i32()),
                      places.shape));
    value = tiles.take(value, tiles.clamp(places, whole), axis);
    zeroPadding = false;
  }
  value = print.reshape(value, shape);
  return {value, SmallVector<int64_t>(extents), zeroPadding};
}

Ssa Views::loadElements(const View &view, ArrayRef<Ssa> indices,
                        ArrayRef<int64_t> extents) {
  std::optional<Tile> part;
  if (view.tile)
    part = load(view, llvm::map_to_vector(view.dimensions, [](auto dimension) {
                  return dimension.size;
                }));
  Ssa place;
  for (auto [i, index] : llvm::enumerate(indices)) {
    Ssa term = part ? tiles.clamp(convertInteger(print, index, print.i32()),
                                  part->extents[i])
                    : convertInteger(print, index, print.i64());
    if (part && place)
      place = tiles.arithmetic("arith.muli", place, part->value.shape[i]);
    else if (!part)
      term = tiles.arithmetic("arith.muli", term, view.dimensions[i].stride);
    place = place ? tiles.arithmetic("arith.addi", place, term) : term;
  }
  SmallVector<int64_t> shape = paddedShape(extents);
  if (!place)
    return print.broadcast(part ? part->value : load(view, {}).value, shape);
  if (part) {
    // The tile as one row, and the place of each element in it.
    Ssa row = print.reshape(part->value,
                            {ShapedType::getNumElements(part->value.shape)});
    Ssa taken = tiles.take(
        row, print.reshape(place, {ShapedType::getNumElements(shape)}), 0);
    return print.reshape(taken, shape);
  }
  Ssa base = baseOf(view);
  Ssa mask, other;
  if (shape.empty()) {
    base = print.addPointer(base, place);
  } else {
    base = print.addPointer(print.splat(base, shape), place);
    // Padding may hold any index.
    mask = tiles.insideMask(extents, shape,
                            llvm::to_vector(llvm::seq<int64_t>(shape.size())));
    if (mask)
      mask = print.broadcast(mask, shape),
      other = print.constant(base.element, 0, shape);
  }
  return fromMemory(print.load(base, mask, other), view);
}
