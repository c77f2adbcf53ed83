//===- Views.cpp - memory as a call's extents say -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Views.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace drawloom::cpu {

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
