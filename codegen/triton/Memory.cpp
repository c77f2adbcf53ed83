//===- Memory.cpp - views, loads and stores of a Triton kernel ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Triton has no buffers in shared memory. One that a tile is stored to once is
// that tile, and what is read of it is gathered; any other is a part of global
// memory, one for each program.
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelExport.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

View KernelExport::wholeView(MemRefType type, const Ssa &pointer) {
  View view{pointer, {}, {{}}, {}, type.getElementType().isInteger(1)};
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    view.dimensions.insert(view.dimensions.begin(), {extent, stride, {}});
    stride *= extent;
  }
  return view;
}

static View wholeView(const Tile &tile) {
  View view{{}, tile, SmallVector<Offset>(tile.extents.size()), {}};
  for (auto [axis, extent] : llvm::enumerate(tile.extents))
    view.dimensions.push_back({extent, 1, {}, static_cast<int64_t>(axis)});
  return view;
}

/// The buffer that a view is of.
static Value bufferOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

bool triton::isHeldAsTile(Value buffer) {
  tile::StoreOp only;
  SmallVector<Operation *> users;
  SmallVector<Value> views{buffer};
  for (unsigned i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers()) {
      users.push_back(user);
      if (isa<ViewLikeOpInterface>(user)) {
        views.push_back(user->getResult(0));
        if (!cast<ShapedType>(views.back().getType()).hasStaticShape())
          return false;
      }
      if (!hasEffect<MemoryEffects::Write>(user, views[i]))
        continue;
      auto store = dyn_cast<tile::StoreOp>(user);
      if (only || !store)
        return false;
      only = store;
    }
  // Nothing else is stored, and all else is read behind it.
  auto elements = [](Value value) {
    return cast<ShapedType>(value.getType()).getNumElements();
  };
  if (!only || only->getBlock() != buffer.getParentBlock() ||
      elements(only.getSource()) != elements(buffer))
    return false;
  SmallVector<Operation *> place{only};
  for (Value at = only.getDest(); at != buffer;
       at = at.getDefiningOp()->getOperand(0))
    place.push_back(at.getDefiningOp());
  return llvm::all_of(users, [&](Operation *user) {
    Block *block = only->getBlock();
    return llvm::is_contained(place, user) ||
           only->isBeforeInBlock(block->findAncestorOpInBlock(*user));
  });
}

void KernelExport::emitAlloc(tile::AllocOp op) {
  Value buffer = op.getBuffer();
  if (isHeldAsTile(buffer))
    return;
  auto type = cast<MemRefType>(buffer.getType());
  std::vector<int64_t> shape{result.grid};
  llvm::append_range(shape, type.getShape());
  buffers.push_back({TtirBuffer::Kind::Temporary,
                     0,
                     shape,
                     textOf(type.getElementType()),
                     {}});
  Ssa pointer =
      addParameter({true, static_cast<int64_t>(buffers.size()) - 1, {}},
                   type.getElementType());
  pointer = print.addPointer(
      pointer, arithmetic("arith.muli", program, type.getNumElements()));
  entries[buffer] = wholeView(type, pointer);
}

Ssa KernelExport::sizeOf(const Dimension &dimension) {
  return dimension.dynamicSize ? dimension.dynamicSize
                               : print.constant(print.i64(), dimension.size);
}

void KernelExport::emitSubview(memref::SubViewOp op) {
  const View &source = viewOf(op.getSource());
  View view = source;
  view.dimensions.clear();
  // Not getDroppedDims(), which takes strides of single elements for those of
  // others.
  auto dropped =
      computeRankReductionMask(op.getStaticSizes(), op.getType().getShape());
  for (auto [i, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    Dimension dimension = source.dimensions[i];
    Offset &at = view.offsets[view.tile ? dimension.axis : 0];
    if (std::optional<int64_t> constant = getConstantIntValue(offset)) {
      at.number += *constant * dimension.stride;
    } else {
      Ssa scaled = arithmetic("arith.muli", scalarOf(offset), dimension.stride);
      at.more = at.more ? arithmetic("arith.addi", at.more, scaled) : scaled;
    }
    std::optional<int64_t> extent = getConstantIntValue(size);
    // Where nobody knows it, there is one element.
    dimension.stride *= getConstantIntValue(stride).value_or(1);
    dimension.size = extent.value_or(ShapedType::kDynamic);
    dimension.dynamicSize = extent ? Ssa() : scalarOf(size);
    if (!dropped->contains(i))
      view.dimensions.push_back(dimension);
  }
  entries[op.getResult()] = view;
}

void KernelExport::emitCast(memref::CastOp op) {
  View view = viewOf(op.getSource());
  auto type = cast<MemRefType>(op.getType());
  for (auto [dimension, extent] : llvm::zip(view.dimensions, type.getShape())) {
    if (extent != ShapedType::kDynamic)
      dimension = {extent, dimension.stride, {}, dimension.axis};
    else if (!dimension.dynamicSize)
      // Who reads it reads more, zeros behind what is there.
      dimension.dynamicSize = sizeOf(dimension);
  }
  entries[op.getResult()] = view;
}

void KernelExport::emitReshapedView(Operation *op) {
  const View source = viewOf(op->getOperand(0));
  auto type = cast<MemRefType>(op->getResult(0).getType());
  if (source.tile) {
    Tile part =
        load(source, cast<MemRefType>(op->getOperand(0).getType()).getShape());
    entries[op->getResult(0)] = ::wholeView(reshape(part, type.getShape()));
    return;
  }
  auto collapse = dyn_cast<memref::CollapseShapeOp>(op);
  View view = source;
  view.dimensions.clear();
  SmallVector<ReassociationIndices> groups =
      collapse ? collapse.getReassociationIndices()
               : cast<memref::ExpandShapeOp>(op).getReassociationIndices();
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (collapse) {
      // The innermost one that is more than one element says how far apart
      // these are.
      Dimension dimension = source.dimensions[group.back()];
      for (int64_t at : group)
        if (source.dimensions[at].size != 1)
          dimension = source.dimensions[at];
      if (group.size() > 1)
        dimension.size = type.getDimSize(i);
      if (type.isDynamicDim(i)) {
        dimension.dynamicSize = sizeOf(source.dimensions[group[0]]);
        for (int64_t at : llvm::drop_begin(group))
          dimension.dynamicSize =
              arithmetic("arith.muli", dimension.dynamicSize,
                         sizeOf(source.dimensions[at]));
      }
      view.dimensions.push_back(dimension);
      continue;
    }
    Dimension dimension = source.dimensions[i];
    if (group.size() == 1) {
      view.dimensions.push_back(dimension);
      continue;
    }
    int64_t at = view.dimensions.size();
    for (int64_t place : llvm::reverse(group)) {
      dimension.size = type.getDimSize(place);
      view.dimensions.insert(view.dimensions.begin() + at, dimension);
      dimension.stride *= dimension.size;
    }
  }
  entries[op->getResult(0)] = view;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Ssa KernelExport::baseOf(const View &view) {
  Ssa base = view.pointer;
  const Offset &offset = view.offsets[0];
  if (offset.more)
    base = print.addPointer(base, offset.more);
  if (offset.number != 0)
    base = print.addPointer(base, print.constant(print.i64(), offset.number));
  return base;
}

Ssa KernelExport::elementPointers(const View &view, ArrayRef<int64_t> shape,
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
        arithmetic("arith.muli",
                   print.convertInteger(isRows ? along(rows, 0, rank)
                                               : print.iota(shape[i], i, rank),
                                        type),
                   dimension.stride);
    offsets = offsets ? arithmetic("arith.addi", offsets, index) : index;
  }
  Ssa pointers = print.splat(base, shape);
  if (offsets)
    pointers = print.addPointer(pointers, print.broadcast(offsets, shape));
  return pointers;
}

Ssa KernelExport::accessMask(const View &view, ArrayRef<int64_t> extents,
                             ArrayRef<int64_t> shape) {
  Ssa mask = insideMask(extents, shape,
                        llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  for (auto [i, dimension] : llvm::enumerate(view.dimensions))
    if (dimension.dynamicSize)
      mask = both(
          mask, below(print.convertInteger(dimension.dynamicSize, print.i32()),
                      i, shape));
  return mask ? print.broadcast(mask, shape) : mask;
}

/// A negative number names no row; padding holds any number.
Ssa KernelExport::rowMask(const Ssa &rows, ArrayRef<int64_t> extents,
                          ArrayRef<int64_t> shape) {
  Ssa named = print.compare("arith.cmpi", "sge", rows,
                            print.constant(rows.element, 0, rows.shape));
  Ssa inside = insideMask(extents, shape,
                          llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  return print.broadcast(both(along(named, 0, shape.size()), inside), shape);
}

Ssa KernelExport::fromMemory(const Ssa &value, const View &view) {
  if (!view.isBit)
    return value;
  return print.compare("arith.cmpi", "ne", value,
                       print.constant(value.element, 0, value.shape));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

Tile KernelExport::load(const View &view, ArrayRef<int64_t> extents) {
  if (view.tile)
    return loadPart(view, extents);
  SmallVector<int64_t> shape = paddedShape(extents);
  Ssa mask = accessMask(view, extents, shape);
  Ssa other = mask ? print.constant(view.pointer.element, 0, shape) : Ssa{};
  Ssa value = print.load(elementPointers(view, shape, {}), mask, other);
  return {fromMemory(value, view), SmallVector<int64_t>(extents),
          /*zeroPadding=*/true};
}

Tile KernelExport::loadPart(const View &view, ArrayRef<int64_t> extents) {
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
    Ssa places = arithmetic("arith.muli",
                            print.iota(powerOfTwoAbove(extent), 0, 1), stride);
    places = arithmetic("arith.addi", places, offset.number);
    if (offset.more)
      places =
          arithmetic("arith.addi", places,
                     print.splat(print.convertInteger(offset.more, print.i32()),
                                 places.shape));
    value = take(value, clamp(places, whole), axis);
    zeroPadding = false;
  }
  value = print.reshape(value, shape);
  return {value, SmallVector<int64_t>(extents), zeroPadding};
}

Ssa KernelExport::loadElements(const View &view, ArrayRef<Ssa> indices,
                               ArrayRef<int64_t> extents) {
  std::optional<Tile> part;
  if (view.tile)
    part = load(view, llvm::map_to_vector(view.dimensions, [](auto dimension) {
                  return dimension.size;
                }));
  Ssa place;
  for (auto [i, index] : llvm::enumerate(indices)) {
    Ssa term =
        part ? clamp(print.convertInteger(index, print.i32()), part->extents[i])
             : print.convertInteger(index, print.i64());
    if (part && place)
      place = arithmetic("arith.muli", place, part->value.shape[i]);
    else if (!part)
      term = arithmetic("arith.muli", term, view.dimensions[i].stride);
    place = place ? arithmetic("arith.addi", place, term) : term;
  }
  SmallVector<int64_t> shape = paddedShape(extents);
  if (!place)
    return print.broadcast(part ? part->value : load(view, {}).value, shape);
  if (part) {
    // The tile as one row, and the place of each element in it.
    Ssa row = print.reshape(part->value,
                            {ShapedType::getNumElements(part->value.shape)});
    Ssa taken =
        take(row, print.reshape(place, {ShapedType::getNumElements(shape)}), 0);
    return print.reshape(taken, shape);
  }
  Ssa base = baseOf(view);
  Ssa mask, other;
  if (shape.empty()) {
    base = print.addPointer(base, place);
  } else {
    base = print.addPointer(print.splat(base, shape), place);
    // Padding may hold any index.
    mask = insideMask(extents, shape,
                      llvm::to_vector(llvm::seq<int64_t>(shape.size())));
    if (mask)
      mask = print.broadcast(mask, shape),
      other = print.constant(base.element, 0, shape);
  }
  return fromMemory(print.load(base, mask, other), view);
}

void KernelExport::emitStore(tile::StoreOp op) {
  Tile tile = tileOf(op.getSource());
  auto found = entries.find(op.getDest());
  if (found == entries.end()) {
    Value buffer = bufferOf(op.getDest());
    entries[buffer] = ::wholeView(
        reshape(tile, cast<MemRefType>(buffer.getType()).getShape()));
    return;
  }
  const View &view = std::get<View>(found->second);
  ArrayRef<int64_t> shape = tile.value.shape;
  Ssa mask = accessMask(view, tile.extents, shape);
  Ssa value = tile.value;
  if (view.isBit)
    value = print.convertInteger(value, view.pointer.element,
                                 /*isSigned=*/false);
  print.store(elementPointers(view, shape, {}), value, mask);
}

void KernelExport::emitGather(tile::GatherOp op) {
  const View &view = viewOf(op.getSource());
  Ssa rows = tileOf(op.getIndices()).value;
  SmallVector<int64_t> extents(
      cast<RankedTensorType>(op.getResult().getType()).getShape());
  SmallVector<int64_t> shape = paddedShape(extents);
  Ssa mask = rowMask(rows, extents, shape), value;
  if (view.tile) {
    SmallVector<int64_t> whole(extents);
    whole[0] = view.dimensions[0].size;
    Ssa table = load(view, whole).value;
    value = take(table,
                 clamp(print.convertInteger(rows, print.i32()), whole[0]), 0);
    value = print.select(mask, value, print.constant(value.element, 0, shape));
  } else {
    value = print.load(elementPointers(view, shape, rows), mask,
                       print.constant(view.pointer.element, 0, shape));
    value = fromMemory(value, view);
  }
  entries[op.getResult()] = Tile{value, extents, /*zeroPadding=*/true};
}

void KernelExport::emitScatter(tile::ScatterOp op) {
  Tile tile = tileOf(op.getRows());
  Ssa rows = tileOf(op.getIndices()).value;
  ArrayRef<int64_t> shape = tile.value.shape;
  print.store(elementPointers(viewOf(op.getDest()), shape, rows), tile.value,
              rowMask(rows, tile.extents, shape));
}
