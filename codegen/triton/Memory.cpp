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
      pointer, tiles.arithmetic("arith.muli", program, type.getNumElements()));
  entries[buffer] = wholeView(type, pointer);
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
      Ssa scaled =
          tiles.arithmetic("arith.muli", scalarOf(offset), dimension.stride);
      at.more =
          at.more ? tiles.arithmetic("arith.addi", at.more, scaled) : scaled;
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
      dimension.dynamicSize = views.sizeOf(dimension);
  }
  entries[op.getResult()] = view;
}

void KernelExport::emitReshapedView(Operation *op) {
  const View source = viewOf(op->getOperand(0));
  auto type = cast<MemRefType>(op->getResult(0).getType());
  if (source.tile) {
    Tile part = views.load(
        source, cast<MemRefType>(op->getOperand(0).getType()).getShape());
    entries[op->getResult(0)] = wholeView(tiles.reshape(part, type.getShape()));
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
        dimension.dynamicSize = views.sizeOf(source.dimensions[group[0]]);
        for (int64_t at : llvm::drop_begin(group))
          dimension.dynamicSize =
              tiles.arithmetic("arith.muli", dimension.dynamicSize,
                               views.sizeOf(source.dimensions[at]));
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
// Loads and stores
//===----------------------------------------------------------------------===//

void KernelExport::emitStore(tile::StoreOp op) {
  Tile tile = tileOf(op.getSource());
  auto found = entries.find(op.getDest());
  if (found == entries.end()) {
    Value buffer = bufferOf(op.getDest());
    entries[buffer] = wholeView(
        tiles.reshape(tile, cast<MemRefType>(buffer.getType()).getShape()));
    return;
  }
  const View &view = std::get<View>(found->second);
  ArrayRef<int64_t> shape = tile.value.shape;
  Ssa mask = views.accessMask(view, tile.extents, shape);
  Ssa value = tile.value;
  if (view.isBit)
    value = convertInteger(print, value, view.pointer.element,
                           /*isSigned=*/false);
  print.store(views.elementPointers(view, shape, {}), value, mask);
}

void KernelExport::emitGather(tile::GatherOp op) {
  const View &view = viewOf(op.getSource());
  Ssa rows = tileOf(op.getIndices()).value;
  SmallVector<int64_t> extents(
      cast<RankedTensorType>(op.getResult().getType()).getShape());
  SmallVector<int64_t> shape = paddedShape(extents);
  Ssa mask = views.rowMask(rows, extents, shape), value;
  if (view.tile) {
    SmallVector<int64_t> whole(extents);
    whole[0] = view.dimensions[0].size;
    Ssa table = views.load(view, whole).value;
    value = tiles.take(
        table, tiles.clamp(convertInteger(print, rows, print.i32()), whole[0]),
        0);
    value = print.select(mask, value, print.constant(value.element, 0, shape));
  } else {
    value = print.load(views.elementPointers(view, shape, rows), mask,
                       print.constant(view.pointer.element, 0, shape));
    value = views.fromMemory(value, view);
  }
  entries[op.getResult()] = Tile{value, extents, /*zeroPadding=*/true};
}

void KernelExport::emitScatter(tile::ScatterOp op) {
  Tile tile = tileOf(op.getRows());
  Ssa rows = tileOf(op.getIndices()).value;
  ArrayRef<int64_t> shape = tile.value.shape;
  print.store(views.elementPointers(viewOf(op.getDest()), shape, rows),
              tile.value, views.rowMask(rows, tile.extents, shape));
}
