//===- OffloadSteps.cpp - values that leave the device --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/launch/OffloadSteps.h"
#include "dialects/Offload/Offload.h"
#include "passes/Memory/Records.h"

using namespace mlir;

namespace drawloom::nvptx {

static constexpr StringLiteral kindName = "kind", recordName = "record";

static LaunchTransfer::Kind kindOf(Operation *op) {
  assert((
      isa<offload::StoreOp, offload::LoadOp, offload::AwaitOp, offload::DropOp>(
          op)));
  return isa<offload::StoreOp>(op)   ? LaunchTransfer::Store
         : isa<offload::AwaitOp>(op) ? LaunchTransfer::Await
         : isa<offload::LoadOp>(op)  ? LaunchTransfer::Load
                                     : LaunchTransfer::Drop;
}

LogicalResult callTransfers(func::FuncOp function, SymbolTable &symbols) {
  FailureOr<Transfers> transfers = transfersOf(function);
  if (failed(transfers))
    return failure();
  for (auto [op, record] : transfers->list) {
    if (op->getParentOp() != function)
      return op->emitOpError("stands inside another op; transfers are between "
                             "the steps of a function's body");
    OpBuilder builder(op);
    SmallVector<Value> operands;
    if (auto store = dyn_cast<offload::StoreOp>(op))
      operands.push_back(store.getValue());
    SmallVector<Type> results;
    if (auto await = dyn_cast<offload::AwaitOp>(op))
      results.push_back(await.getValue().getType());
    auto callee = func::FuncOp::create(
        op->getLoc(), (function.getName() + "_transfer").str(),
        builder.getFunctionType(TypeRange(ValueRange(operands)), results));
    callee.setPrivate();
    callee->setAttr(transferAttr,
                    builder.getDictionaryAttr(
                        {builder.getNamedAttr(
                             kindName, builder.getI64IntegerAttr(kindOf(op))),
                         builder.getNamedAttr(
                             recordName, builder.getI64IntegerAttr(record))}));
    symbols.insert(callee, Block::iterator(function));
    auto call = func::CallOp::create(builder, op->getLoc(), callee, operands);
    if (auto await = dyn_cast<offload::AwaitOp>(op))
      await.getValue().replaceAllUsesWith(call.getResult(0));
  }
  for (const Transfer &called : llvm::reverse(transfers->list))
    called.op->erase();
  return success();
}

std::optional<LaunchTransfer> transferOf(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  auto said = callee->getAttrOfType<DictionaryAttr>(transferAttr);
  if (!said)
    return std::nullopt;
  return LaunchTransfer{static_cast<LaunchTransfer::Kind>(
                            said.getAs<IntegerAttr>(kindName).getInt()),
                        said.getAs<IntegerAttr>(recordName).getInt()};
}

namespace {

/// The steps of an entry with the memory that they use.
class TransferOrder {
public:
  TransferOrder(std::vector<LaunchStep> &steps, std::vector<StepMemory> memory)
      : steps(steps), memory(std::move(memory)) {}

  /// In front of an await, behind its load.
  void fetch(size_t await);
  /// Behind a store, where anything changes its memory.
  void release(size_t store);

private:
  /// Whether a step uses any of the memory of a transfer, from its operand
  /// `from` on.
  bool uses(size_t step, const LaunchStep &transfer, size_t from) const;
  void insert(size_t at, LaunchStep step, StepMemory used) {
    steps.insert(steps.begin() + static_cast<ptrdiff_t>(at), std::move(step));
    memory.insert(memory.begin() + static_cast<ptrdiff_t>(at), std::move(used));
  }

  std::vector<LaunchStep> &steps;
  std::vector<StepMemory> memory;
};

bool TransferOrder::uses(size_t step, const LaunchStep &transfer,
                         size_t from) const {
  const LaunchOperand &own = transfer.operands.front();
  for (size_t i = from; i < steps[step].operands.size(); ++i) {
    const LaunchOperand &other = steps[step].operands[i];
    if (other.kind != own.kind)
      continue;
    bool isApart = own.kind == LaunchOperand::Workspace
                       ? other.value >= own.value + transfer.bytes ||
                             own.value >= other.value + memory[step].bytes[i]
                       : other.value != own.value;
    if (!isApart)
      return true;
  }
  return false;
}

static bool is(const LaunchStep &step, LaunchTransfer::Kind kind,
               int64_t record) {
  return step.transfer && step.transfer->kind == kind &&
         step.transfer->record == record;
}

void TransferOrder::fetch(size_t await) {
  LaunchStep step = steps[await];
  size_t at = await;
  while (at > 0 &&
         !is(steps[at - 1], LaunchTransfer::Load, step.transfer->record) &&
         !uses(at - 1, step, 0))
    --at;
  step.transfer->kind = LaunchTransfer::Fetch;
  insert(at, step, {{step.bytes}, 0});
}

void TransferOrder::release(size_t store) {
  int64_t record = steps[store].transfer->record;
  for (size_t at = store + 1; at < steps.size(); ++at) {
    // Its bytes are elsewhere by then.
    if (is(steps[at], LaunchTransfer::Drop, record))
      return;
    if (uses(at, steps[store], memory[at].written)) {
      LaunchStep step;
      step.transfer = {LaunchTransfer::Release, record};
      return insert(at, std::move(step), {});
    }
  }
}

} // namespace

void orderTransfers(LaunchEntry &entry, std::vector<StepMemory> memory) {
  TransferOrder order(entry.steps, std::move(memory));
  auto isOf = [&](size_t step, LaunchTransfer::Kind kind) {
    const std::optional<LaunchTransfer> &transfer = entry.steps[step].transfer;
    return transfer && transfer->kind == kind;
  };
  for (size_t i = 0; i < entry.steps.size(); ++i)
    if (isOf(i, LaunchTransfer::Await)) {
      order.fetch(i);
      // It is one step further now.
      ++i;
    }
  for (size_t i = 0; i < entry.steps.size(); ++i)
    if (isOf(i, LaunchTransfer::Store))
      order.release(i);
}

} // namespace drawloom::nvptx
