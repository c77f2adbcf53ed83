//===- LowerCopies.cpp - memref.copy as vector loops ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/vectors/RegisterTiles.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPULOWERCOPIES
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

struct CpuLowerCopies : impl::CpuLowerCopiesBase<CpuLowerCopies> {
  void lower(memref::CopyOp op);
  void runOnOperation() override;
};

void CpuLowerCopies::lower(memref::CopyOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getSource().getType());
  auto target = cast<MemRefType>(op.getTarget().getType());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<Value> at;
  ArrayRef<int64_t> shape = type.getShape();
  if (llvm::is_contained(shape, 0)) {
    op.erase();
    return;
  }
  // Loops over all dimensions but the last, which goes by vectors; over all of
  // them where the last extent is not known either.
  bool lastIsKnown = !shape.empty() && !ShapedType::isDynamic(shape.back());
  for (auto [i, extent] :
       llvm::enumerate(lastIsKnown ? shape.drop_back() : shape)) {
    Value count = ShapedType::isDynamic(extent)
                      ? memref::DimOp::create(b, loc, op.getSource(), i)
                      : index(extent);
    auto loop = scf::ForOp::create(b, loc, index(0), count, index(1));
    at.push_back(loop.getInductionVar());
    b.setInsertionPoint(loop.getBody()->getTerminator());
  }
  Type element = type.getElementType();
  auto runsAlong = [](MemRefType memory) {
    SmallVector<int64_t> strides;
    int64_t offset;
    return succeeded(memory.getStridesAndOffset(strides, offset)) &&
           !strides.empty() && strides.back() == 1;
  };
  // Booleans are bytes in memory but bits in a vector.
  bool vectors = runsAlong(type) && runsAlong(target) &&
                 VectorType::isValidElementType(element) &&
                 !element.isInteger(1);
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  auto move = [&](OpBuilder &inner, ValueRange where, int64_t size) {
    if (size == 1) {
      Value value = memref::LoadOp::create(inner, loc, op.getSource(), where);
      memref::StoreOp::create(inner, loc, value, op.getTarget(), where);
      return;
    }
    auto vector = VectorType::get({size}, element);
    Value value =
        vector::LoadOp::create(inner, loc, vector, op.getSource(), where);
    vector::StoreOp::create(inner, loc, value, op.getTarget(), where);
  };
  if (!lastIsKnown) {
    move(b, at, 1);
  } else {
    int64_t size = vectors ? std::max<int64_t>(1, 1024 / bits) : 1;
    at.push_back(Value());
    for (const Piece &piece : cutExtent(shape.back(), size)) {
      if (piece.count == 1) {
        at.back() = index(piece.offset);
        move(b, at, piece.size);
        continue;
      }
      auto loop = scf::ForOp::create(
          b, loc, index(piece.offset),
          index(piece.offset + piece.size * piece.count), index(piece.size));
      OpBuilder inner(loop.getBody()->getTerminator());
      at.back() = loop.getInductionVar();
      move(inner, at, piece.size);
    }
  }
  op.erase();
}

void CpuLowerCopies::runOnOperation() {
  SmallVector<memref::CopyOp> copies;
  WalkResult result = getOperation()->walk([&](memref::CopyOp op) {
    if (!isa<MemRefType>(op.getSource().getType()) ||
        !isa<MemRefType>(op.getTarget().getType())) {
      op.emitOpError("needs a known rank to be lowered for the CPU");
      return WalkResult::interrupt();
    }
    copies.push_back(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  for (memref::CopyOp op : copies)
    lower(op);
}

} // namespace
} // namespace drawloom::cpu
