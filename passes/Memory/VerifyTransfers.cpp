//===- VerifyTransfers.cpp - records are used as they should be -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"
#include "passes/Memory/Passes.h"

namespace drawloom {
#define GEN_PASS_DEF_VERIFYTRANSFERS
#include "passes/Memory/Passes.h.inc"
} // namespace drawloom

using namespace mlir;

namespace drawloom {
namespace {

LogicalResult verifyPlace(Operation *op) {
  if (isa<func::FuncOp>(op->getParentOp()))
    return success();
  return op->emitOpError("stands inside another op; transfers are between the "
                         "steps of a function's body");
}

/// A record's users, in order: loads and awaits by turns, and a drop.
LogicalResult verifyRecord(offload::StoreOp store) {
  SmallVector<Operation *> users(store.getRecord().getUsers());
  for (Operation *user : users) {
    if (!isa<offload::LoadOp, offload::AwaitOp, offload::DropOp>(user))
      return user->emitOpError("uses a record, which only offload.load, "
                               "offload.await and offload.drop may");
    if (failed(verifyPlace(user)))
      return failure();
    if (user->getBlock() != store->getBlock())
      return user->emitOpError("stands in another block than the offload.store "
                               "of its record");
  }
  llvm::sort(users,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  bool isLoaded = false, isDropped = false;
  for (Operation *user : users) {
    if (isDropped)
      return user->emitOpError("uses a record that has been dropped");
    if (isa<offload::LoadOp>(user) && isLoaded)
      return user->emitOpError("loads a record that has been loaded and not "
                               "been awaited since");
    if (isa<offload::AwaitOp>(user) && !isLoaded)
      return user->emitOpError("awaits a record that no offload.load has asked "
                               "for since it was stored or awaited");
    if (isa<offload::DropOp>(user) && isLoaded)
      return user->emitOpError("drops a record that has been loaded and not "
                               "been awaited since");
    isLoaded = isa<offload::LoadOp>(user);
    isDropped = isa<offload::DropOp>(user);
  }
  if (!isDropped)
    return store.emitOpError("has a record that is never dropped: its place in "
                             "the store would be taken to the end");
  return success();
}

struct VerifyTransfers : impl::VerifyTransfersBase<VerifyTransfers> {
  void runOnOperation() override {
    bool isWrong = false;
    getOperation().walk([&](Operation *op) {
      if (auto store = dyn_cast<offload::StoreOp>(op)) {
        isWrong |= failed(verifyPlace(op)) || failed(verifyRecord(store));
      } else if (isa<offload::LoadOp, offload::AwaitOp, offload::DropOp>(op) &&
                 !op->getOperand(0).getDefiningOp<offload::StoreOp>()) {
        op->emitOpError("has a record that no offload.store of this function "
                        "has made");
        isWrong = true;
      }
    });
    if (isWrong)
      signalPassFailure();
  }
};

} // namespace
} // namespace drawloom
