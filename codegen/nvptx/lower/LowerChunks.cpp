//===- LowerChunks.cpp - ops on tiles of one layout, part by part
//-----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerKernel.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Sums that the reductions of one run may hold, in registers.
static constexpr int64_t mostRunSums = 96;

/// The tile whose layout is that of the run that an op belongs to.
static Value runTile(Operation *op) {
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return store.getSource();
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return reduce.getSource();
  if (isa<tile::LoadOp, tile::SplatOp, tile::IotaOp, tile::BroadcastOp>(op))
    return op->getResult(0);
  if (op->getNumResults() > 0 &&
      isa<RankedTensorType>(op->getResult(0).getType()) &&
      !isa<tile::TileDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
      OpTrait::hasElementwiseMappableTraits(op))
    return op->getResult(0);
  return {};
}

bool LowerKernel::joinsRun(Operation *op, const Layout &layout) {
  Value tile = runTile(op);
  return tile && tile::layoutOf(tile.getType()) == layout;
}

void LowerKernel::lowerPart(Operation *op, Range range) {
  loc = placeOf(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::SplatOp>([&](auto op) { lowerSplat(op, range); })
      .Case<tile::IotaOp>([&](auto op) { lowerIota(op, range); })
      .Case<tile::BroadcastOp>([&](auto op) { lowerBroadcast(op, range); })
      .Case<tile::LoadOp>([&](auto op) { lowerLoad(op, range); })
      .Case<tile::StoreOp>([&](auto op) { lowerStore(op, range); })
      .Case<tile::ReduceOp>([&](auto op) { lowerReduce(op, range); })
      .Default([&](Operation *op) { lowerElementwise(op, range); });
}

/// Registers that the values of a run take at once between its loads and its
/// stores.
static constexpr int64_t mostRunRegisters = 72;

int64_t stepOfRun(ArrayRef<Operation *> run, int64_t part) {
  DenseMap<Value, size_t> last;
  for (auto [i, op] : llvm::enumerate(run))
    for (Value operand : op->getOperands())
      last[operand] = i;
  int64_t alive = 0, most = 0;
  for (auto [i, op] : llvm::enumerate(run)) {
    auto bytes = [](Value value) -> int64_t {
      if (!isa<RankedTensorType>(value.getType()) ||
          isa_and_nonnull<tile::SplatOp, tile::BroadcastOp, tile::ReduceOp>(
              value.getDefiningOp()))
        return 0;
      Type element = getElementTypeOrSelf(value);
      return element.isIndex()
                 ? 8
                 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
    };
    for (Value result : op->getResults())
      if (auto found = last.find(result); found != last.end())
        alive += bytes(result);
    most = std::max(most, alive);
    llvm::SmallDenseSet<Value> ended;
    for (Value operand : op->getOperands())
      if (last[operand] == i && ended.insert(operand).second &&
          llvm::is_contained(run, operand.getDefiningOp()))
        alive -= bytes(operand);
  }
  int64_t step = part;
  while (step > 2 && step * most / 4 > mostRunRegisters)
    step /= 2;
  return step;
}

FailureOr<Operation *> LowerKernel::lowerRun(Operation *first) {
  Value tile = runTile(first);
  if (!tile)
    return nullptr;
  Layout layout = *tile::layoutOf(tile.getType());
  int64_t count = layout.registerCount();
  if (count < 2)
    return nullptr;
  SmallVector<Operation *> run, others;
  const DenseSet<Value> inputs = inputsOf(kernel);
  DenseSet<Value> made, stored, loaded;
  int64_t sums = 0;
  Operation *op = first;
  for (; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
      return made.contains(operand);
    });
    if (joinsRun(op, layout)) {
      // What a broadcast reads is whole, and parts of memory are not stored
      // before all of them are loaded.
      if (isa<tile::BroadcastOp>(op) && reads)
        break;
      if (auto load = dyn_cast<tile::LoadOp>(op)) {
        if (stored.contains(rootOf(load.getSource())))
          break;
        loaded.insert(rootOf(load.getSource()));
      }
      if (auto store = dyn_cast<tile::StoreOp>(op)) {
        if (loaded.contains(rootOf(store.getDest())))
          break;
        stored.insert(rootOf(store.getDest()));
      }
      // The result of a reduction is complete when the run is.
      if (reads && llvm::any_of(op->getOperands(), [&](Value operand) {
            return operand.getDefiningOp<tile::ReduceOp>() &&
                   made.contains(operand);
          }))
        break;
      // Sums are alive from the first part to the last.
      if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
        sums += all(reduce.getResult()).end;
        if (sums > mostRunSums && !run.empty())
          break;
      }
      run.push_back(op);
      made.insert(op->result_begin(), op->result_end());
      // Its barrier comes when the run has ended: nothing behind it may be in
      // the run.
      if (auto reduce = dyn_cast<tile::ReduceOp>(op);
          reduce && reduce.getScratch()) {
        op = op->getNextNode();
        break;
      }
      continue;
    }
    // What does not need the run comes before it; so may a barrier where the
    // run has read nothing yet but what nobody writes.
    bool moves =
        !reads && op->getNumRegions() == 0 &&
        (isPure(op) || isa<tile::AllocOp, tile::LoadOp, memref::LoadOp>(op) ||
         (isa<tile::BarrierOp>(op) && stored.empty() &&
          llvm::all_of(loaded,
                       [&](Value root) { return inputs.contains(root); })));
    if (auto load = dyn_cast<tile::LoadOp>(op); load && moves)
      moves = !stored.contains(rootOf(load.getSource()));
    else if (isa<memref::LoadOp>(op) && moves)
      moves = stored.empty();
    if (!moves)
      break;
    others.push_back(op);
  }
  if (run.size() < 2)
    return nullptr;
  // Small tiles are written whole, where that keeps within registers.
  bool small = count <= 2 * partRegisters;
  if (small && stepOfRun(run, count) == count)
    return nullptr;
  // In order: a broadcast of the run may read one of the others.
  for (Operation *other : others)
    if (failed(lower(other)))
      return failure();
  if (small || !rollRun(run, layout)) {
    // Memory is read and written by whole vectors, at both ends of a part; what
    // is in between takes few enough registers at once.
    int64_t step = stepOfRun(run, partRegisters);
    auto lowerMembers = [&](Range range, auto &&wanted) -> LogicalResult {
      for (Operation *member : run) {
        if (!wanted(member))
          continue;
        if (++ops > maxOps)
          return refuseSize();
        lowerPart(member, range);
      }
      return success();
    };
    for (int64_t begin = 0; begin < count; begin += partRegisters) {
      Range part{begin, std::min(begin + partRegisters, count)};
      if (failed(lowerMembers(
              part, [](Operation *op) { return isa<tile::LoadOp>(op); })))
        return failure();
      for (int64_t at = part.begin; at < part.end; at += step)
        if (failed(lowerMembers({at, std::min(at + step, part.end)},
                                [](Operation *op) {
                                  return !isa<tile::LoadOp, tile::StoreOp>(op);
                                })))
          return failure();
      if (failed(lowerMembers(
              part, [](Operation *op) { return isa<tile::StoreOp>(op); })))
        return failure();
    }
  }
  for (Operation *member : run)
    if (auto reduce = dyn_cast<tile::ReduceOp>(member)) {
      loc = placeOf(member->getLoc());
      reduceAcrossLanes(reduce);
    }
  return op;
}

} // namespace drawloom::nvptx
