//===- Views.cpp - memory and what is seen of it --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/buffers/Views.h"
#include "dialects/Offload/Offload.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom::cpu {

std::optional<std::pair<Value, Value>> choiceOf(Value memory) {
  auto choice = memory.getDefiningOp<scf::IfOp>();
  if (!choice)
    return std::nullopt;
  unsigned number = cast<OpResult>(memory).getResultNumber();
  return std::pair(choice.thenYield().getOperand(number),
                   choice.elseYield().getOperand(number));
}

SmallVector<Value> choicesOf(Value memory) {
  SmallVector<Value> open{memory}, found;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto choice = choiceOf(wholeOf(next)))
      open.append({choice->first, choice->second});
    else
      found.push_back(next);
  }
  return found;
}

namespace {

/// The bytes of a buffer that a view is within, where it says so.
std::optional<std::pair<int64_t, int64_t>> bytesWithin(Value memory) {
  memref::ViewOp part;
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>()) {
    part = dyn_cast<memref::ViewOp>(view.getOperation());
    memory = view.getViewSource();
  }
  std::optional<int64_t> begin =
      part ? getConstantIntValue(part.getByteShift()) : std::nullopt;
  if (!begin || !part.getType().hasStaticShape() ||
      !part.getType().getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bits = part.getType().getElementTypeBitWidth();
  return std::pair(*begin, *begin + part.getType().getNumElements() *
                                        llvm::divideCeil(bits, 8));
}

bool isBuffer(Value memory) {
  return isa_and_present<memref::AllocOp, memref::AllocaOp>(
      memory.getDefiningOp());
}

/// An argument that shares memory with no other one: of an entry, or said to
/// be.
bool isOwnArgument(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto function =
      argument && argument.getOwner()->isEntryBlock()
          ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
          : func::FuncOp();
  return function &&
         (function.isPublic() ||
          function.getArgAttr(argument.getArgNumber(), "llvm.noalias"));
}

bool areApartUnchosen(Value one, Value other) {
  Value whole = wholeOf(one), otherWhole = wholeOf(other);
  if (whole == otherWhole) {
    auto bytes = bytesWithin(one), otherBytes = bytesWithin(other);
    return bytes && otherBytes &&
           (bytes->second <= otherBytes->first ||
            otherBytes->second <= bytes->first);
  }
  auto global = whole.getDefiningOp<memref::GetGlobalOp>(),
       otherGlobal = otherWhole.getDefiningOp<memref::GetGlobalOp>();
  if (global && otherGlobal)
    return global.getName() != otherGlobal.getName();
  return (global || isBuffer(whole) || isOwnArgument(whole)) &&
         (otherGlobal || isBuffer(otherWhole) || isOwnArgument(otherWhole));
}

} // namespace

bool areApart(Value one, Value other) {
  SmallVector<Value> others = choicesOf(other);
  return llvm::all_of(choicesOf(one), [&](Value a) {
    return llvm::all_of(others,
                        [&](Value b) { return areApartUnchosen(a, b); });
  });
}

std::optional<Accesses> accessesOf(Operation *root) {
  Accesses accesses;
  WalkResult known = root->walk([&](Operation *op) {
    // LLVM's own description has it that a prefetch writes.
    if (isa<memref::PrefetchOp>(op) || isPure(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    // Ops on tiles are said to write somewhere, so that they stay in order.
    if (auto load = dyn_cast<amx::TileLoadOp>(op)) {
      accesses.read.push_back(load.getBase());
      return WalkResult::advance();
    }
    if (auto store = dyn_cast<amx::TileStoreOp>(op)) {
      accesses.written.push_back(store.getBase());
      return WalkResult::advance();
    }
    if (isa<amx::TileZeroOp, amx::TileMulFOp>(op))
      return WalkResult::advance();
    auto described = dyn_cast<MemoryEffectOpInterface>(op);
    if (!described)
      return WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    described.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
      if (!isRead && !isa<MemoryEffects::Write>(effect.getEffect()))
        continue;
      // A store is no memory, and has its own order. (To compare resources
      // would not do: each shared library has its own.)
      bool isOfStore =
          llvm::isa_and_present<offload::OffloadDialect>(op->getDialect());
      if (!effect.getValue() && isOfStore)
        continue;
      if (!effect.getValue())
        return WalkResult::interrupt();
      (isRead ? accesses.read : accesses.written).push_back(effect.getValue());
    }
    return WalkResult::advance();
  });
  if (known.wasInterrupted())
    return std::nullopt;
  return accesses;
}

bool leavesAlone(Operation *op, Value memory, bool maybeRead) {
  std::optional<Accesses> accesses = accessesOf(op);
  auto isApart = [&](Value other) { return areApart(other, memory); };
  return accesses && llvm::all_of(accesses->written, isApart) &&
         (maybeRead || llvm::all_of(accesses->read, isApart));
}

MemRefType placeType(Type element) { return MemRefType::get({1}, element); }

Value placeOf(OpBuilder &builder, Location loc, Value memory) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return memref::ReinterpretCastOp::create(
      builder, loc,
      placeType(cast<MemRefType>(memory.getType()).getElementType()), memory,
      zero, ArrayRef(one), ArrayRef(one));
}

bool isPlace(Operation *op) {
  auto view = dyn_cast_or_null<memref::ReinterpretCastOp>(op);
  return view && view.getType() == placeType(view.getType().getElementType()) &&
         !cast<MemRefType>(view.getSource().getType()).hasStaticShape();
}

Value denseView(OpBuilder &builder, Location loc, Value place,
                ArrayRef<int64_t> shape, ValueRange open) {
  SmallVector<OpFoldResult> sizes = getMixedValues(shape, open, builder),
                            strides(shape.size());
  IndexMath math(builder, loc);
  OpFoldResult stride = math.number(1);
  for (auto [size, into] : llvm::reverse(llvm::zip_equal(sizes, strides))) {
    into = stride;
    stride = math.mul(stride, size);
  }
  Type element = cast<MemRefType>(place.getType()).getElementType();
  return memref::ReinterpretCastOp::create(
      builder, loc, MemRefType::get(shape, element), place,
      builder.getIndexAttr(0), sizes, strides);
}

} // namespace drawloom::cpu
