//===- Views.cpp - memory as a call's extents say -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Views.h"
#include "codegen/cpu/Signature.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom::cpu {

namespace {

/// Where control flow has chosen between two memories, these.
std::pair<Value, Value> choiceOf(Value memory) {
  auto choice = memory.getDefiningOp<scf::IfOp>();
  if (!choice)
    return {};
  unsigned number = cast<OpResult>(memory).getResultNumber();
  return {choice.thenYield().getOperand(number),
          choice.elseYield().getOperand(number)};
}

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
  return isa_and_present<memref::AllocOp, memref::AllocaOp,
                         memref::GetGlobalOp>(memory.getDefiningOp());
}

/// An argument that no other one shares memory with.
bool isOwnArgument(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  return function &&
         (!function->hasAttr(kernelAttr) ||
          function.getArgAttr(argument.getArgNumber(), "llvm.noalias"));
}

} // namespace

bool areApart(Value one, Value other) {
  Value whole = wholeOf(one), otherWhole = wholeOf(other);
  if (auto [first, second] = choiceOf(whole); first)
    return areApart(first, other) && areApart(second, other);
  if (auto [first, second] = choiceOf(otherWhole); first)
    return areApart(one, first) && areApart(one, second);
  if (whole == otherWhole) {
    auto bytes = bytesWithin(one), otherBytes = bytesWithin(other);
    return bytes && otherBytes &&
           (bytes->second <= otherBytes->first ||
            otherBytes->second <= bytes->first);
  }
  return (isBuffer(whole) || isOwnArgument(whole)) &&
         (isBuffer(otherWhole) || isOwnArgument(otherWhole));
}

bool keepsOff(Operation &op, Value memory) {
  return !op.walk([&](Operation *inner) {
              bool isKept =
                  isPure(inner) ||
                  inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                  (isa<MemoryEffectOpInterface>(inner) &&
                   llvm::all_of(inner->getOperands(), [&](Value operand) {
                     return !isa<MemRefType>(operand.getType()) ||
                            areApart(operand, memory);
                   }));
              return isKept ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
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
