//===- OffloadOps.cpp - what transfers do and do not touch ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Offload/OffloadOps.cpp.inc"

namespace drawloom::offload {
namespace {

/// The store: no op on memory touches it, and transfers keep their order.
struct StoreResource : SideEffects::Resource::Base<StoreResource> {
  StringRef getName() final { return "offload store"; }
};

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

void writeStore(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), StoreResource::get());
}

bool isOf(Type value, RecordType record) {
  auto shaped = cast<ShapedType>(value);
  return shaped.getShape() == record.getTensor().getShape() &&
         shaped.getElementType() == record.getTensor().getElementType();
}

} // namespace

void StoreOp::getEffects(Effects &effects) {
  if (isa<MemRefType>(getValue().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getValueMutable());
  writeStore(effects);
}

LogicalResult StoreOp::verify() {
  if (!isOf(getValue().getType(), getRecord().getType()))
    return emitOpError("gives a record of ")
           << getRecord().getType().getTensor() << " for a value of type "
           << getValue().getType();
  return success();
}

void LoadOp::getEffects(Effects &effects) { writeStore(effects); }

void AwaitOp::getEffects(Effects &effects) {
  if (isa<MemRefType>(getDestination().getType()))
    effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable());
  writeStore(effects);
}

LogicalResult AwaitOp::verify() {
  if (!isOf(getDestination().getType(), getRecord().getType()))
    return emitOpError("gives a record of ")
           << getRecord().getType().getTensor() << " to a destination of type "
           << getDestination().getType();
  bool isTensor = isa<RankedTensorType>(getDestination().getType());
  if (isTensor != static_cast<bool>(getValue()) ||
      (isTensor && getValue().getType() != getDestination().getType()))
    return emitOpError("has a result where its destination is a tensor, of the "
                       "same type");
  return success();
}

void DropOp::getEffects(Effects &effects) { writeStore(effects); }

} // namespace drawloom::offload
