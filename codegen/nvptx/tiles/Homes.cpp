//===- Homes.cpp - where values of a block program are --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/tiles/Homes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::nvptx {

Value Homes::splat(Location loc, Value scalar, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, scalar.getType());
  return tile::SplatOp::create(builder, loc, type, scalar);
}

Value Homes::loadTile(Location loc, Value memory, RankedTensorType type) {
  return tile::LoadOp::create(builder, loc, type, memory);
}

FailureOr<Value> Homes::asTile(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Home &where = homes[tensor];
  if (where.kind == Home::Tile)
    return where.value;
  if (!type.hasStaticShape())
    return emitError(tensor.getLoc())
           << "a tile of unknown extents, " << type
           << ", cannot be computed on: gather it to a static shape";
  if (where.kind == Home::Memory)
    return loadTile(tensor.getLoc(), where.value, type);
  Value zero = arith::ConstantOp::create(
      builder, tensor.getLoc(), builder.getZeroAttr(type.getElementType()));
  return splat(tensor.getLoc(), zero, type.getShape());
}

Value Homes::allocate(Location loc, RankedTensorType type) {
  auto memory = MemRefType::get(type.getShape(), type.getElementType(),
                                MemRefLayoutAttrInterface(),
                                builder.getI64IntegerAttr(tile::sharedSpace));
  return tile::AllocOp::create(builder, loc, memory, IntegerAttr());
}

FailureOr<Value> Homes::asMemory(Value tensor) {
  Home &where = homes[tensor];
  if (where.kind == Home::Memory)
    return where.value;
  FailureOr<Value> elements = asTile(tensor);
  if (failed(elements))
    return failure();
  Value &memory = spilled[*elements];
  if (memory)
    return memory;
  // Right behind the tile: where it can be read from everywhere.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(*elements);
  memory =
      allocate(tensor.getLoc(), cast<RankedTensorType>(elements->getType()));
  tile::StoreOp::create(builder, tensor.getLoc(), *elements, memory);
  return memory;
}

FailureOr<Value> Homes::ownMemory(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.hasStaticShape())
    return emitError(tensor.getLoc()) << "a copy of unknown extents, " << type
                                      << ", has no place in shared memory";
  bool defined = homes[tensor].kind != Home::Undefined;
  FailureOr<Value> elements;
  if (defined && failed(elements = asTile(tensor)))
    return failure();
  Value memory = allocate(tensor.getLoc(), type);
  if (defined)
    tile::StoreOp::create(builder, tensor.getLoc(), *elements, memory);
  return memory;
}

FailureOr<Value> Homes::memoryToChange(Value tensor, Operation *op) {
  if (mayChange(tensor, op))
    return homes[tensor].value;
  return ownMemory(tensor);
}

bool Homes::mayChange(Value tensor, Operation *op) {
  if (homes[tensor].kind != Home::Memory || !homes[tensor].writable)
    return false;
  // Of a shape and of what it was before, the one is read where the other is.
  auto isName = [&](Operation *at) {
    return isa_and_nonnull<tensor::CastOp, tensor::CollapseShapeOp,
                           tensor::ExpandShapeOp>(at) &&
           homes[at->getResult(0)].kind == Home::Memory;
  };
  while (isName(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  SmallVector<Value> names{tensor};
  for (unsigned i = 0; i < names.size(); ++i) {
    if (isReadAfter(names[i], op))
      return false;
    for (Operation *user : names[i].getUsers())
      if (isName(user))
        names.push_back(user->getResult(0));
  }
  return true;
}

static bool isDestination(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return &insert.getDestMutable() == &use;
    if (auto insert = dyn_cast<tensor::InsertOp>(user))
      return &insert.getDestMutable() == &use;
    if (auto scatter = dyn_cast<block::ScatterOp>(user))
      return &scatter.getDestMutable() == &use;
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (use.getOperandNumber() < loop.getNumControlOperands())
        return false;
      return needsMemory(loop.getTiedLoopRegionIterArg(&use));
    }
    return false;
  });
}

bool needsMemory(Value tensor) {
  if (!cast<RankedTensorType>(tensor.getType()).hasStaticShape())
    return true;
  return isDestination(tensor) ||
         llvm::any_of(tensor.getUsers(), [](Operation *user) {
           return isa<tensor::ExtractSliceOp>(user);
         });
}

/// Whether one op runs only where the other does not.
static bool areExclusive(Operation *a, Operation *b) {
  Operation *both = b->getParentOp();
  while (both && !both->isProperAncestor(a))
    both = both->getParentOp();
  auto branch = dyn_cast_or_null<scf::IfOp>(both);
  if (!branch)
    return false;
  Region &first = branch.getThenRegion();
  return first.isAncestor(a->getParentRegion()) !=
         first.isAncestor(b->getParentRegion());
}

bool isReadAfter(Value tensor, Operation *op) {
  // In a loop, the next iteration reads it as it was.
  for (Operation *parent = op->getParentOp();
       parent->getParentRegion() &&
       tensor.getParentRegion()->isAncestor(parent->getParentRegion());
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      return true;
  for (Operation *user : tensor.getUsers()) {
    if (user == op)
      continue;
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    // What changes it in a branch asks for itself.
    if (ancestor == op && isa<scf::IfOp>(op))
      continue;
    if (!ancestor && areExclusive(user, op))
      continue;
    // A user in another block is outside of a loop or branch that holds `op`.
    if (!ancestor || op->isBeforeInBlock(ancestor) || ancestor == op)
      return true;
  }
  return false;
}

SmallVector<OpFoldResult> Homes::mapped(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) -> OpFoldResult {
    if (auto dynamic = dyn_cast<Value>(value))
      return getAsOpFoldResult(scalars.lookup(dynamic));
    return value;
  });
}

Value Homes::subview(Location loc, Value memory, RankedTensorType part,
                     ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> sizes,
                     ArrayRef<OpFoldResult> strides) {
  auto type = cast<MemRefType>(memory.getType());
  auto result = memref::SubViewOp::inferRankReducedResultType(
      part.getShape(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, result, memory, offsets, sizes,
                                   strides);
}

bool isFilledInPlace(linalg::FillOp op) {
  // What is beyond that leaves no room for anything else on some device.
  constexpr int64_t mostSharedBytes = 96 * 1024;
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  return type.hasStaticShape() && type.getElementType().isIntOrFloat() &&
         type.getNumElements() * type.getElementTypeBitWidth() / 8 >
             mostSharedBytes &&
         op.getOutputs()[0].hasOneUse() && isDestination(op.getResult(0));
}

} // namespace drawloom::nvptx
