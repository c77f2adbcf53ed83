//===- TensorsToTiles.cpp - slices, reshapes and elements of tensors ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/tiles/BlockToTile.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace drawloom::nvptx {

Operation *putBack(Value tensor, tensor::ExtractSliceOp slice, int depth) {
  if (depth > 64)
    return nullptr;
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    auto isPlace = [&](auto insert) {
      return insert.getSource() == tensor &&
             insert.getDest() == slice.getSource() &&
             isEqualConstantIntOrValueArray(insert.getMixedOffsets(),
                                            slice.getMixedOffsets()) &&
             isEqualConstantIntOrValueArray(insert.getMixedSizes(),
                                            slice.getMixedSizes()) &&
             isEqualConstantIntOrValueArray(insert.getMixedStrides(),
                                            slice.getMixedStrides());
    };
    // What it becomes in its memory, unless that is read as it was.
    Value next;
    bool isLast = !isReadAfter(tensor, user);
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user)) {
      if (isPlace(insert))
        return insert;
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(user)) {
      if (isPlace(insert))
        return insert;
      if (insert.getDest() == tensor && isLast)
        next = insert.getResult();
    } else if (auto insert = dyn_cast<tensor::InsertOp>(user)) {
      if (isLast)
        next = insert.getResult();
    } else if (auto scatter = dyn_cast<block::ScatterOp>(user)) {
      if (scatter.getDest() == tensor && isLast)
        next = scatter.getResult();
    } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (use.getOperandNumber() >= loop.getNumControlOperands() && isLast)
        next = loop.getTiedLoopResult(&use);
    } else if (auto fill = dyn_cast<linalg::FillOp>(user)) {
      // A table that shared memory cannot hold is filled and changed in its
      // place.
      if (isFilledInPlace(fill))
        next = fill.getResult(0);
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
      next = expand.getResult();
    } else if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp())) {
      next = user->getParentOp()->getResult(use.getOperandNumber());
    }
    if (next)
      if (Operation *place = putBack(next, slice, depth + 1))
        return place;
  }
  return nullptr;
}

LogicalResult BlockToTile::convertSlice(tensor::ExtractSliceOp op) {
  Value source = op.getSource();
  if (homes[source].kind == Home::Undefined) {
    homes[op.getResult()] = Home();
    return success();
  }
  bool writable = homes[source].kind == Home::Memory && homes[source].writable;
  FailureOr<Value> memory = homes.asMemory(source);
  if (failed(memory))
    return failure();
  Value part = homes.subview(
      op.getLoc(), *memory, op.getType(), homes.mapped(op.getMixedOffsets()),
      homes.mapped(op.getMixedSizes()), homes.mapped(op.getMixedStrides()));
  // Memory that changes is read now, not where the slice is used; but for a
  // slice that is changed and put back.
  bool isChanged = needsMemory(op.getResult()) ||
                   llvm::any_of(op->getUsers(), [](Operation *user) {
                     auto fill = dyn_cast<linalg::FillOp>(user);
                     return fill && isFilledInPlace(fill);
                   });
  bool inPlace = isChanged && putBack(op.getResult(), op);
  if (writable && op.getType().hasStaticShape() && !inPlace)
    homes.setTile(op.getResult(),
                  homes.loadTile(op.getLoc(), part, op.getType()));
  else
    homes.setMemory(op.getResult(), part, writable && inPlace);
  return success();
}

/// Whether `part` is the very slice of `whole`.
static bool isSliceOf(Value part, Value whole, ArrayRef<OpFoldResult> offsets,
                      ArrayRef<OpFoldResult> sizes,
                      ArrayRef<OpFoldResult> strides) {
  if (auto expand = part.getDefiningOp<memref::ExpandShapeOp>())
    part = expand.getSrc();
  auto view = part.getDefiningOp<memref::SubViewOp>();
  return view && view.getSource() == whole &&
         isEqualConstantIntOrValueArray(view.getMixedStrides(), strides) &&
         isEqualConstantIntOrValueArray(view.getMixedOffsets(), offsets) &&
         isEqualConstantIntOrValueArray(view.getMixedSizes(), sizes);
}

/// The insertion of all of `tensor`, once it is filled, perhaps by loops, into
/// a block's result.
static tensor::ParallelInsertSliceOp insertionOf(Value tensor, int depth = 0) {
  if (depth > 64)
    return {};
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    Value next;
    if (auto whole = dyn_cast<tensor::ParallelInsertSliceOp>(user)) {
      if (whole.getSource() == tensor &&
          whole.getSourceType() == whole.getDestType())
        return whole;
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(user)) {
      if (insert.getDest() == tensor)
        next = insert.getResult();
    } else if (auto scatter = dyn_cast<block::ScatterOp>(user)) {
      if (scatter.getDest() == tensor)
        next = scatter.getResult();
    } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (use.getOperandNumber() >= loop.getNumControlOperands())
        next = loop.getTiedLoopResult(&use);
    }
    if (next)
      if (tensor::ParallelInsertSliceOp whole = insertionOf(next, depth + 1))
        return whole;
  }
  return {};
}

LogicalResult BlockToTile::convertInsert(tensor::InsertSliceOp op) {
  Value dest = op.getDest();
  // A copy of what may not change is made where it will be a result, if so.
  FailureOr<Value> memory = failure();
  Home place;
  if (const Home &where = homes[dest];
      where.kind == Home::Memory && !where.writable)
    if (tensor::ParallelInsertSliceOp whole = insertionOf(op.getResult()))
      place = homes[whole.getDest()];
  if (place.kind == Home::Memory && place.writable) {
    FailureOr<Value> elements = homes.asTile(dest);
    if (failed(elements))
      return failure();
    tile::StoreOp::create(builder, op.getLoc(), *elements, place.value);
    memory = place.value;
  } else {
    memory = homes.memoryToChange(dest, op);
  }
  if (failed(memory))
    return failure();
  SmallVector<OpFoldResult> offsets = homes.mapped(op.getMixedOffsets());
  SmallVector<OpFoldResult> sizes = homes.mapped(op.getMixedSizes());
  const Home source = homes[op.getSource()];
  homes.setMemory(op.getResult(), *memory, /*writable=*/true);
  if (source.kind == Home::Memory &&
      isSliceOf(source.value, *memory, offsets, sizes,
                homes.mapped(op.getMixedStrides()))) {
    // From here on that memory is the result's, which changes.
    if (source.writable && op.getSourceType().hasStaticShape() &&
        isReadAfter(op.getSource(), op))
      homes.setTile(op.getSource(), homes.loadTile(op.getLoc(), source.value,
                                                   op.getSourceType()));
    return success();
  }
  FailureOr<Value> elements = homes.asTile(op.getSource());
  if (failed(elements))
    return failure();
  Value part = homes.subview(op.getLoc(), *memory, op.getSourceType(), offsets,
                             sizes, homes.mapped(op.getMixedStrides()));
  tile::StoreOp::create(builder, op.getLoc(), *elements, part);
  homes.setMemory(op.getResult(), *memory, /*writable=*/true);
  return success();
}

LogicalResult
BlockToTile::convertParallelInsert(tensor::ParallelInsertSliceOp op) {
  Home &dest = homes[op.getDest()];
  if (dest.kind != Home::Memory)
    return op.emitError("writes a result that nothing returns");
  Value memory = dest.value;
  SmallVector<OpFoldResult> offsets = homes.mapped(op.getMixedOffsets());
  SmallVector<OpFoldResult> sizes = homes.mapped(op.getMixedSizes());
  const Home source = homes[op.getSource()];
  if (source.kind == Home::Memory &&
      (source.value == memory || isSliceOf(source.value, memory, offsets, sizes,
                                           homes.mapped(op.getMixedStrides()))))
    return success();
  FailureOr<Value> elements = homes.asTile(op.getSource());
  if (failed(elements))
    return failure();
  Value part = homes.subview(op.getLoc(), memory, op.getSourceType(), offsets,
                             sizes, homes.mapped(op.getMixedStrides()));
  tile::StoreOp::create(builder, op.getLoc(), *elements, part);
  return success();
}

LogicalResult BlockToTile::convertPad(tensor::PadOp op) {
  Value fill = op.getConstantPaddingValue();
  auto isZero = [&] {
    auto constant = fill ? fill.getDefiningOp<arith::ConstantOp>() : nullptr;
    if (!constant)
      return false;
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return number.getValue().isPosZero();
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number && number.getValue().isZero();
  };
  bool fromLow = llvm::all_of(op.getMixedLowPad(), [](OpFoldResult low) {
    return isConstantIntValue(low, 0);
  });
  if (!isZero() || !fromLow || !op.getResultType().hasStaticShape())
    return op.emitError("only pads of zeros at the end, to a static shape, "
                        "have a form on a GPU yet");
  FailureOr<Value> memory = homes.asMemory(op.getSource());
  if (failed(memory))
    return failure();
  // A load ends at the memory's extents, which for that must not be static.
  auto type = cast<MemRefType>(memory->getType());
  if (type.getShape() != op.getResultType().getShape()) {
    SmallVector<int64_t> unknown(type.getShape());
    for (auto [extent, padded] :
         llvm::zip(unknown, op.getResultType().getShape()))
      if (extent != padded)
        extent = ShapedType::kDynamic;
    auto open = MemRefType::get(unknown, type.getElementType(),
                                type.getLayout(), type.getMemorySpace());
    if (open != type)
      *memory = memref::CastOp::create(builder, op.getLoc(), open, *memory);
  }
  homes.setTile(op.getResult(),
                homes.loadTile(op.getLoc(), *memory, op.getResultType()));
  return success();
}

LogicalResult BlockToTile::convertConcat(tensor::ConcatOp op) {
  RankedTensorType type = op.getResultType();
  if (!type.hasStaticShape())
    return op.emitError("a concatenation of unknown extents, ")
           << type << ", has no form on a GPU yet";
  Location loc = op.getLoc();
  // All parts, before any of them is put into the result: they may be parts of
  // what was there.
  SmallVector<Value> parts;
  for (Value input : op.getInputs()) {
    FailureOr<Value> elements = homes.asTile(input);
    if (failed(elements))
      return failure();
    parts.push_back(*elements);
  }
  Home place;
  if (tensor::ParallelInsertSliceOp whole = insertionOf(op.getResult()))
    place = homes[whole.getDest()];
  Value memory = place.kind == Home::Memory && place.writable
                     ? place.value
                     : homes.allocate(loc, type);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  int64_t at = 0;
  for (Value elements : parts) {
    auto part = cast<RankedTensorType>(elements.getType());
    offsets[op.getDim()] = builder.getIndexAttr(at);
    at += part.getDimSize(op.getDim());
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(builder.getContext(), part.getShape());
    tile::StoreOp::create(
        builder, loc, elements,
        homes.subview(loc, memory, part, offsets, sizes, strides));
  }
  homes.setMemory(op.getResult(), memory, /*writable=*/true);
  return success();
}

LogicalResult BlockToTile::convertReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (homes[source].kind == Home::Undefined) {
    homes[result] = Home();
    return success();
  }
  // Memory that changes is read now.
  bool isPutBehind = llvm::all_of(result.getUsers(), [](Operation *user) {
    return isa<tensor::ParallelInsertSliceOp>(user);
  });
  bool changes = homes[source].kind == Home::Memory && homes[source].writable &&
                 type.hasStaticShape() && !needsMemory(result) && !isPutBehind;
  if (homes[source].kind == Home::Memory && !changes) {
    Value memory = homes[source].value;
    auto from = cast<MemRefType>(memory.getType());
    bool writable = homes[source].writable;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      SmallVector<ReassociationIndices> groups =
          collapse.getReassociationIndices();
      if (memref::CollapseShapeOp::isGuaranteedCollapsible(from, groups)) {
        homes.setMemory(result,
                        memref::CollapseShapeOp::create(builder, op->getLoc(),
                                                        memory, groups),
                        writable);
        return success();
      }
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      SmallVector<ReassociationIndices> groups =
          expand.getReassociationIndices();
      // Open rows stay rows.
      bool isSplit = llvm::any_of(groups, [&](const auto &group) {
        return group.size() > 1 && llvm::any_of(group, [&](int64_t dim) {
                 return type.isDynamicDim(dim);
               });
      });
      FailureOr<MemRefType> to =
          isSplit ? FailureOr<MemRefType>(failure())
                  : memref::ExpandShapeOp::computeExpandedType(
                        from, type.getShape(), groups);
      if (succeeded(to)) {
        homes.setMemory(result,
                        memref::ExpandShapeOp::create(
                            builder, op->getLoc(), *to, memory, groups,
                            homes.mapped(expand.getMixedOutputShape())),
                        writable);
        return success();
      }
    }
  }
  FailureOr<Value> elements = homes.asTile(source);
  if (failed(elements))
    return failure();
  homes.setTile(
      result, tile::ReshapeOp::create(builder, op->getLoc(), type, *elements));
  return success();
}

LogicalResult BlockToTile::convertTensorOp(Operation *op) {
  Location loc = op->getLoc();
  if (isa<tensor::EmptyOp>(op)) {
    homes[op->getResult(0)] = Home();
    // What is filled part by part, and is a result then, is filled there.
    if (needsMemory(op->getResult(0)))
      if (tensor::ParallelInsertSliceOp whole = insertionOf(op->getResult(0)))
        if (homes[whole.getDest()].kind == Home::Memory)
          homes.setMemory(op->getResult(0), homes[whole.getDest()].value,
                          /*writable=*/true);
    return success();
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return convertSlice(slice);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return convertInsert(insert);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return convertPad(pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return convertConcat(concat);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return convertReshape(op);
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    Home source = homes[cast.getSource()];
    auto type = mlir::cast<RankedTensorType>(cast.getType());
    if (source.kind == Home::Memory && source.writable &&
        type.hasStaticShape() && !needsMemory(cast.getResult())) {
      homes.setTile(cast.getResult(), homes.loadTile(loc, source.value, type));
      return success();
    }
    if (source.kind == Home::Memory) {
      auto from = mlir::cast<MemRefType>(source.value.getType());
      auto to = MemRefType::get(
          mlir::cast<RankedTensorType>(cast.getType()).getShape(),
          from.getElementType(), from.getLayout(), from.getMemorySpace());
      if (from != to)
        source.value = memref::CastOp::create(builder, loc, to, source.value);
    }
    homes[cast.getResult()] = source;
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    FailureOr<Value> memory = homes.asMemory(dim.getSource());
    if (failed(memory))
      return failure();
    homes.scalars.map(
        dim.getResult(),
        memref::DimOp::create(builder, loc, *memory,
                              homes.scalars.lookup(dim.getIndex())));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    FailureOr<Value> memory = homes.asMemory(extract.getTensor());
    if (failed(memory))
      return failure();
    SmallVector<Value> indices =
        llvm::map_to_vector(extract.getIndices(), [&](Value index) {
          return homes.scalars.lookup(index);
        });
    homes.scalars.map(extract.getResult(),
                      memref::LoadOp::create(builder, loc, *memory, indices));
    return success();
  }
  if (auto single = dyn_cast<tensor::FromElementsOp>(op);
      single && single.getElements().size() == 1) {
    homes.setTile(single.getResult(),
                  homes.splat(loc,
                              homes.scalars.lookup(single.getElements()[0]),
                              single.getType().getShape()));
    return success();
  }
  if (auto splatted = dyn_cast<tensor::SplatOp>(op);
      splatted && splatted.getType().hasStaticShape()) {
    homes.setTile(splatted.getResult(),
                  homes.splat(loc, homes.scalars.lookup(splatted.getInput()),
                              splatted.getType().getShape()));
    return success();
  }
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    Value dest = insert.getDest();
    FailureOr<Value> memory = homes.memoryToChange(dest, op);
    if (failed(memory))
      return failure();
    SmallVector<OpFoldResult> offsets =
        llvm::map_to_vector(insert.getIndices(), [&](Value index) {
          return getAsOpFoldResult(homes.scalars.lookup(index));
        });
    SmallVector<OpFoldResult> ones(offsets.size(), builder.getIndexAttr(1));
    Value scalar = homes.scalars.lookup(insert.getScalar());
    auto point = RankedTensorType::get({}, scalar.getType());
    tile::StoreOp::create(
        builder, loc, homes.splat(loc, scalar, {}),
        homes.subview(loc, *memory, point, offsets, ones, ones));
    homes.setMemory(insert.getResult(), *memory, /*writable=*/true);
    return success();
  }
  return op->emitOpError("has no form on a GPU yet");
}

} // namespace drawloom::nvptx
