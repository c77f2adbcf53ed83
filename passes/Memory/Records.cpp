//===- Records.cpp - the records of a function ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Records.h"
#include "dialects/Offload/Offload.h"
#include "passes/Memory/StepCost.h"

using namespace mlir;

namespace drawloom {

FailureOr<Transfers> transfersOf(func::FuncOp function) {
  Transfers transfers;
  DenseMap<Value, int64_t> records;
  int64_t alive = 0;
  WalkResult result = function.walk([&](Operation *op) {
    if (auto store = dyn_cast<offload::StoreOp>(op)) {
      int64_t number = transfers.records++;
      records[store.getRecord()] = number;
      alive += bytesOf(store.getValue().getType());
      transfers.recordBytes = std::max(transfers.recordBytes, alive);
      transfers.list.push_back({op, number});
      return WalkResult::advance();
    }
    if (!isa<offload::LoadOp, offload::AwaitOp, offload::DropOp>(op))
      return WalkResult::advance();
    auto known = records.find(op->getOperand(0));
    if (known == records.end()) {
      op->emitOpError("has a record that control flow has chosen; a record is "
                      "what one offload.store gives");
      return WalkResult::interrupt();
    }
    transfers.list.push_back({op, known->second});
    if (isa<offload::DropOp>(op))
      alive -= bytesOf(known->first.getDefiningOp()->getOperand(0).getType());
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return transfers;
}

} // namespace drawloom
