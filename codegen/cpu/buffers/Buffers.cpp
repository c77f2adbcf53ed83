//===- Buffers.cpp - bytes of buffers -------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/buffers/Buffers.h"
#include "drawloom/runtime/Artifact.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Memory/Arena.h"

using namespace mlir;

namespace drawloom::cpu {

static_assert(MemoryTerm::unit % arenaAlignment == 0);

MemRefType bytesType(Builder &builder, int64_t bytes) {
  return MemRefType::get({bytes}, builder.getI8Type());
}

static FailureOr<int64_t> bytesOf(Operation *op, MemRefType type) {
  int64_t bytes = 0;
  Type element = type.getElementType();
  if (element.isIndex()) {
    bytes = 8;
  } else if (element.isIntOrFloat()) {
    bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  } else if (auto vector = dyn_cast<VectorType>(element)) {
    bytes = llvm::NextPowerOf2(
        vector.getNumElements() *
            llvm::divideCeil(vector.getElementTypeBitWidth(), 8) -
        1);
  }
  if (bytes == 0 || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return op->emitOpError("allocates a buffer of type ")
           << type << ", whose size is not known when compiling for the CPU";
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return op->emitOpError("allocates a buffer of type ")
             << type << ", which exceeds the address space";
  return bytes;
}

FailureOr<int64_t> bytesOf(Operation *op) {
  return bytesOf(op, cast<MemRefType>(op->getResult(0).getType()));
}

FailureOr<int64_t> bytesOfRow(Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  llvm::replace(shape, ShapedType::kDynamic, int64_t(1));
  return bytesOf(op, MemRefType::get(shape, type.getElementType(),
                                     type.getLayout(), type.getMemorySpace()));
}

OpFoldResult roundedUp(IndexMath &math, OpFoldResult count) {
  OpFoldResult unit = math.number(MemoryTerm::unit);
  return math.mul(math.ceilDiv(count, unit), unit);
}

SmallVector<Operation *> allocationsIn(Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](memref::AllocOp op) { found.push_back(op); });
  root->walk([&](memref::AllocaOp op) { found.push_back(op); });
  return found;
}

} // namespace drawloom::cpu
