//===- TakeSaved.cpp - numbers from what was kept -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "passes/Differentiate/Passes.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_TAKESAVED
#include "passes/Differentiate/Passes.h.inc"

/// The value is what is saved wherever the op is executed, too.
static void take(ad::SavedOp op, DominanceInfo &dominance) {
  Value saved = op.getSaved();
  Region *region = op->getParentRegion();
  op.getValue().replaceUsesWithIf(saved, [&](OpOperand &use) {
    return region->isAncestor(use.getOwner()->getParentRegion()) &&
           dominance.properlyDominates(saved, use.getOwner());
  });
  op.replaceAllUsesWith(saved);
  op.erase();
}

namespace {
struct TakeSaved : impl::TakeSavedBase<TakeSaved> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<ad::SavedOp> ops;
    function.walk([&](ad::SavedOp op) { ops.push_back(op); });
    DominanceInfo dominance(function);
    for (ad::SavedOp op : ops)
      take(op, dominance);
  }
};
} // namespace

} // namespace drawloom
