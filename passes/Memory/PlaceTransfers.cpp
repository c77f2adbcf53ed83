//===- PlaceTransfers.cpp - begin to read in time -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Offload/Offload.h"
#include "passes/Memory/Passes.h"
#include "passes/Memory/StepCost.h"

namespace drawloom {
#define GEN_PASS_DEF_PLACETRANSFERS
#include "passes/Memory/Passes.h.inc"
} // namespace drawloom

using namespace mlir;

namespace drawloom {
namespace {

struct PlaceTransfers : impl::PlaceTransfersBase<PlaceTransfers> {
  using PlaceTransfersBase::PlaceTransfersBase;
  void runOnOperation() override;
};

/// The load that an await needs, the one before it.
offload::LoadOp loadFor(offload::AwaitOp await) {
  offload::LoadOp last;
  for (Operation *user : await.getRecord().getUsers())
    if (auto load = dyn_cast<offload::LoadOp>(user))
      if (load->getBlock() == await->getBlock() &&
          load->isBeforeInBlock(await) &&
          (!last || last->isBeforeInBlock(load)))
        last = load;
  return last;
}

/// What a load stays behind: the store, or the await before it.
Operation *floorOf(offload::LoadOp load) {
  Operation *floor = load.getRecord().getDefiningOp();
  for (Operation *user : load.getRecord().getUsers())
    if (isa<offload::AwaitOp>(user) && user->isBeforeInBlock(load) &&
        floor->isBeforeInBlock(user))
      floor = user;
  return floor;
}

void PlaceTransfers::runOnOperation() {
  if (getOperation().isExternal() ||
      !llvm::hasSingleElement(getOperation().getBody()))
    return;
  Block &body = getOperation().getBody().front();
  // When each op begins, if nothing waits.
  DenseMap<Operation *, double> begins;
  SmallVector<Operation *> ops;
  SmallVector<offload::AwaitOp> awaits;
  double now = 0;
  for (Operation &op : body) {
    begins[&op] = now;
    ops.push_back(&op);
    if (auto await = dyn_cast<offload::AwaitOp>(op))
      awaits.push_back(await);
    else
      now += secondsOf(op, operations, memory);
  }
  double linkIsFree = now;
  Operation *next = nullptr;
  for (offload::AwaitOp await : llvm::reverse(awaits)) {
    offload::LoadOp load = loadFor(await);
    if (!load)
      continue;
    double bytes =
        static_cast<double>(bytesOf(load.getRecord().getType().getTensor()));
    linkIsFree = std::min(linkIsFree, begins[await]) - bytes / read;
    Operation *floor = floorOf(load);
    // The last op that begins in time, and not behind the load that follows.
    Operation *at = await;
    while (
        at->getPrevNode() && at->getPrevNode() != floor &&
        (begins.lookup(at) > linkIsFree || (next && next->isBeforeInBlock(at))))
      at = at->getPrevNode();
    load->moveBefore(at);
    begins[load] = begins.lookup(at);
    next = load;
  }
}

} // namespace
} // namespace drawloom
