//===- GroupBlocks.cpp - block programs that run together -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/GroupBlocks.h"
#include "codegen/cpu/buffers/Views.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// Whole buffers that an op reads and writes. Allocations, globals and
/// arguments do not overlap.
struct WholeAccesses {
  DenseSet<Value> read, written;
  /// Some memory is one of several buffers, as control flow chooses.
  bool unknown = false;

  bool conflictsWith(const WholeAccesses &other) const {
    auto meet = [](const DenseSet<Value> &a, const DenseSet<Value> &b) {
      return llvm::any_of(a, [&](Value value) { return b.contains(value); });
    };
    return unknown || other.unknown || meet(written, other.written) ||
           meet(written, other.read) || meet(read, other.written);
  }
};

WholeAccesses wholeAccessesOf(Operation *root) {
  WholeAccesses accesses;
  auto add = [&](ArrayRef<Value> views, DenseSet<Value> &into) {
    for (Value view : views)
      for (Value memory : choicesOf(view)) {
        Value whole = wholeOf(memory);
        auto argument = dyn_cast<BlockArgument>(whole);
        accesses.unknown |=
            argument ? !isa<func::FuncOp>(argument.getOwner()->getParentOp())
                     : !isa<memref::AllocOp, memref::GetGlobalOp>(
                           whole.getDefiningOp());
        into.insert(whole);
      }
  };
  std::optional<Accesses> views = accessesOf(root);
  accesses.unknown = !views;
  if (views) {
    add(views->read, accesses.read);
    add(views->written, accesses.written);
  }
  return accesses;
}

/// What `op` needs and `before` does not have yet, in order; nothing where some
/// of it must stay where it is.
std::optional<SmallVector<Operation *>> neededBefore(Operation *op,
                                                     Operation *before) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    bool movable = true;
    open.pop_back_val()->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || def->getBlock() != before->getBlock() ||
            def->isBeforeInBlock(before) || !needed.insert(def))
          continue;
        movable &= def != before &&
                   (isMemoryEffectFree(def) || isa<memref::AllocOp>(def));
        open.push_back(def);
      }
    });
    if (!movable)
      return std::nullopt;
  }
  SmallVector<Operation *> ordered = needed.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// Whether the number of blocks is known: others have no share in a range.
bool isCounted(scf::ForallOp loop) {
  return getConstantIntValues(loop.getMixedUpperBound()).has_value();
}

/// Whether `loop` may run with the group, at the place of its first.
bool tryJoin(BlockGroup &group, scf::ForallOp loop) {
  if (loop->getBlock() != group.front()->getBlock() || !isCounted(loop) ||
      !isCounted(group.front()))
    return false;
  WholeAccesses ours = wholeAccessesOf(loop);
  for (Operation *op = group.front(); op != loop; op = op->getNextNode())
    if (ours.conflictsWith(wholeAccessesOf(op)))
      return false;
  std::optional<SmallVector<Operation *>> needed =
      neededBefore(loop, group.front());
  if (!needed)
    return false;
  for (Operation *op : *needed)
    op->moveBefore(group.front());
  group.push_back(loop);
  return true;
}

} // namespace

SmallVector<BlockGroup> groupBlocks(func::FuncOp function) {
  SmallVector<BlockGroup> groups;
  SmallVector<scf::ForallOp> loops;
  function.walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
    loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ForallOp loop : loops)
    if (groups.empty() || !tryJoin(groups.back(), loop))
      groups.push_back({loop});
  return groups;
}

} // namespace drawloom::cpu
