//===- TilesInPlace.cpp - whole tiles without a copy ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a program does not know how many rows it is called with, the last tile
// of rows may not be full: a block program computes in a tile of its own, of
// which so many rows as there are come from memory and go there. All tiles but
// the last are full, and need no copy: they are what is in memory.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/buffers/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUTILESINPLACE
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// A copy between some rows of a tile and as many rows of memory. Where these
/// are all rows of the tile, they begin with its first.
struct RowCopy {
  memref::CopyOp op;
  memref::AllocOp tile;
  /// What is copied of the tile, and of the memory.
  memref::SubViewOp ofTile, ofMemory;
  bool intoMemory;

  Value memory() { return ofMemory.getSource(); }
  MemRefType tileType() { return tile.getType(); }
  OpFoldResult rows() { return ofTile.getMixedSizes().front(); }
};

/// Whether a view is of some rows, all that is in them.
bool isOfRows(memref::SubViewOp view) {
  if (!view || !view.hasUnitStride() || view.getType().getRank() < 2 ||
      view.getType().getRank() != view.getSourceType().getRank())
    return false;
  for (int64_t i = 1; i < view.getType().getRank(); ++i)
    if (view.isDynamicOffset(i) || view.getStaticOffset(i) != 0 ||
        view.isDynamicSize(i) ||
        view.getStaticSize(i) != view.getSourceType().getDimSize(i))
      return false;
  return true;
}

std::optional<RowCopy> rowCopyOf(memref::CopyOp op) {
  auto from = op.getSource().getDefiningOp<memref::SubViewOp>();
  auto to = op.getTarget().getDefiningOp<memref::SubViewOp>();
  if (!isOfRows(from) || !isOfRows(to))
    return std::nullopt;
  for (bool intoMemory : {true, false}) {
    auto [ofTile, ofMemory] =
        intoMemory ? std::pair(from, to) : std::pair(to, from);
    auto tile = ofTile.getSource().getDefiningOp<memref::AllocOp>();
    if (tile && tile.getType().hasStaticShape() && ofTile.isDynamicSize(0) &&
        tile->getBlock() == op->getBlock())
      return RowCopy{op, tile, ofTile, ofMemory, intoMemory};
  }
  return std::nullopt;
}

/// Ops that read or write memory by other views of `memory` or by itself.
void addUses(Value memory, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : memory.getUses()) {
    if (isa<ViewLikeOpInterface>(use.getOwner()))
      for (Value view : use.getOwner()->getResults())
        addUses(view, uses);
    else
      uses.push_back(&use);
  }
}

class CpuTilesInPlace : public impl::CpuTilesInPlaceBase<CpuTilesInPlace> {
public:
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    // What is done for one changes the views of others.
    for (memref::CopyOp op : copies)
      if (std::optional<RowCopy> copy = rowCopyOf(op))
        if (std::optional<SmallVector<OpOperand *>> uses = usesInPlace(*copy))
          putInPlace(*copy, *uses);
  }

private:
  /// The uses of a tile that may as well be of the memory: all that are before
  /// the copy, or behind it where the tile is read. None if there is anything
  /// else, or if the memory is used meanwhile.
  std::optional<SmallVector<OpOperand *>> usesInPlace(RowCopy copy) {
    // Others may want what of a whole tile was not copied.
    if (!copy.ofTile->hasOneUse())
      return std::nullopt;
    SmallVector<OpOperand *> moved;
    Operation *first = copy.op, *last = copy.op;
    for (OpOperand &use : copy.tile->getUses()) {
      if (use.getOwner() == copy.ofTile)
        continue;
      SmallVector<OpOperand *> leaves{&use};
      if (isa<ViewLikeOpInterface>(use.getOwner())) {
        leaves.clear();
        addUses(use.getOwner()->getResult(0), leaves);
      }
      bool isBefore = false, isBehind = false;
      for (OpOperand *leaf : leaves) {
        Operation *user =
            copy.tile->getBlock()->findAncestorOpInBlock(*leaf->getOwner());
        (user->isBeforeInBlock(copy.op) ? isBefore : isBehind) = true;
        if (user->isBeforeInBlock(first))
          first = user;
        if (last->isBeforeInBlock(user))
          last = user;
      }
      bool isOtherSide = copy.intoMemory ? isBehind : isBefore;
      if (isOtherSide && (copy.intoMemory || isBehind))
        return std::nullopt;
      // Rows of a tile that are not copied to it are zeros, written before.
      if (isOtherSide)
        continue;
      if (!mayMove(use, copy.intoMemory))
        return std::nullopt;
      moved.push_back(&use);
    }
    if (moved.empty())
      return std::nullopt;
    if (!copy.intoMemory)
      first = copy.op->getNextNode();
    for (Operation *op = first; op != last->getNextNode();
         op = op->getNextNode())
      if (op != copy.op && !leavesAlone(op, copy.memory(), !copy.intoMemory))
        return std::nullopt;
    return moved;
  }

  /// Ops that take memory with any strides between rows, and write only what is
  /// copied to memory anyway.
  static bool mayMove(OpOperand &use, bool intoMemory) {
    if (isa<memref::SubViewOp, memref::ExpandShapeOp>(use.getOwner()))
      return llvm::all_of(use.getOwner()->getUses(), [&](OpOperand &inner) {
        return mayMove(inner, intoMemory);
      });
    if (isa<memref::LoadOp>(use.getOwner()))
      return true;
    // What products read, they read many times, and rows together are faster
    // for them: rows 4 KiB apart meet in one set of the first-level cache.
    if (auto read = dyn_cast<vector::TransferReadOp>(use.getOwner()))
      return intoMemory || read.getVectorType().getRank() == 1;
    return intoMemory &&
           isa<vector::TransferWriteOp, memref::StoreOp, memref::CopyOp>(
               use.getOwner());
  }

  /// A view of whole rows, wherever they are.
  static MemRefType anywhere(MemRefType tile) {
    auto [strides, offset] = tile.getStridesAndOffset();
    strides.front() = ShapedType::kDynamic;
    return MemRefType::get(tile.getShape(), tile.getElementType(),
                           StridedLayoutAttr::get(tile.getContext(),
                                                  ShapedType::kDynamic,
                                                  strides));
  }

  void putInPlace(RowCopy copy, ArrayRef<OpOperand *> uses) {
    auto memory = cast<MemRefType>(copy.memory().getType());
    auto [strides, offset] = memory.getStridesAndOffset();
    auto [own, none] = copy.tileType().getStridesAndOffset();
    if (ArrayRef(strides).drop_front() != ArrayRef(own).drop_front() ||
        (!memory.isDynamicDim(0) &&
         memory.getDimSize(0) < copy.tileType().getDimSize(0)))
      return;
    Location loc = copy.op.getLoc();
    OpBuilder b(copy.op);
    if (copy.intoMemory)
      b.setInsertionPointAfter(copy.tile);
    Value all =
        arith::ConstantIndexOp::create(b, loc, copy.tileType().getDimSize(0));
    Value rows = cast<Value>(copy.rows());
    SmallVector<Value> needed = {rows, copy.memory()};
    if (auto at = dyn_cast<Value>(copy.ofMemory.getMixedOffsets().front()))
      needed.push_back(at);
    IRRewriter rewriter(&getContext());
    if (failed(moveValueDefinitions(rewriter, needed, all.getDefiningOp()))) {
      all.getDefiningOp()->erase();
      return;
    }
    Value isWhole =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rows, all);
    MemRefType type = anywhere(copy.tileType());
    auto place = scf::IfOp::create(
        b, loc, isWhole,
        [&](OpBuilder &inner, Location) {
          SmallVector<OpFoldResult> sizes = copy.ofMemory.getMixedSizes();
          sizes.front() = inner.getIndexAttr(copy.tileType().getDimSize(0));
          Value view = memref::SubViewOp::create(
              inner, loc, copy.memory(), copy.ofMemory.getMixedOffsets(), sizes,
              copy.ofMemory.getMixedStrides());
          scf::YieldOp::create(
              inner, loc,
              memref::CastOp::create(inner, loc, type, view).getResult());
        },
        [&](OpBuilder &inner, Location) {
          scf::YieldOp::create(
              inner, loc,
              memref::CastOp::create(inner, loc, type, copy.tile).getResult());
        });
    for (OpOperand *use : uses)
      replace(*use, place.getResult(0));
    b.setInsertionPoint(copy.op);
    Value isPart =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rows, all);
    auto copied = scf::IfOp::create(b, loc, isPart);
    copy.op->moveBefore(copied.thenBlock()->getTerminator());
  }

  /// The same view of other memory, whose type says where that is.
  static Value viewOf(Value memory, Operation *view) {
    OpBuilder b(view);
    // It may stand in front of what it is a view of now; its uses do not.
    Operation *made = memory.getDefiningOp();
    if (made->getBlock() == view->getBlock() && view->isBeforeInBlock(made))
      b.setInsertionPointAfter(made);
    auto type = cast<MemRefType>(memory.getType());
    if (auto part = dyn_cast<memref::SubViewOp>(view)) {
      auto moved =
          cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
              part.getType().getShape(), type, part.getMixedOffsets(),
              part.getMixedSizes(), part.getMixedStrides()));
      return memref::SubViewOp::create(
          b, part.getLoc(), moved, memory, part.getMixedOffsets(),
          part.getMixedSizes(), part.getMixedStrides());
    }
    auto expand = cast<memref::ExpandShapeOp>(view);
    return memref::ExpandShapeOp::create(
        b, expand.getLoc(), expand.getResultType().getShape(), memory,
        expand.getReassociationIndices());
  }

  static void replace(OpOperand &use, Value memory) {
    Operation *user = use.getOwner();
    if (!isa<memref::SubViewOp, memref::ExpandShapeOp>(user)) {
      use.set(memory);
      return;
    }
    Value moved = viewOf(memory, user);
    for (OpOperand &inner : llvm::make_early_inc_range(user->getUses()))
      replace(inner, moved);
    user->erase();
  }
};

} // namespace
} // namespace drawloom::cpu
