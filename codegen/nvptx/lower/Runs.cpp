//===- Runs.cpp - ops on tiles of one layout -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Runs.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Sums that the reductions of one run may hold, in registers.
static constexpr int64_t mostRunSums = 96;

/// Returns the tile whose layout is that of the run that an op belongs to.
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

namespace {

/// A run that is being found, op by op.
class RunFinder {
public:
  RunFinder(const Layout &layout, const DenseSet<Value> &inputs)
      : inputs(inputs) {
    run.layout = layout;
  }

  /// Finds the run that starts at an op.
  Run find(Operation *first);

private:
  /// Returns whether an op reads what the run makes.
  bool reads(Operation *op) const;
  /// Returns whether an op is of the kind and the layout of the run.
  bool isAlike(Operation *op) const;
  /// Returns whether an op that is alike may be part of the run.
  bool mayJoin(Operation *op);
  void join(Operation *op);
  /// Returns whether an op that is no part of the run may come before it.
  bool mayPrecede(Operation *op) const;

  const DenseSet<Value> &inputs;
  Run run;
  DenseSet<Value> made, stored, loaded;
  int64_t sums = 0;
};

bool RunFinder::reads(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return made.contains(operand); });
}

bool RunFinder::isAlike(Operation *op) const {
  Value tile = runTile(op);
  return tile && tile::layoutOf(tile.getType()) == run.layout;
}

bool RunFinder::mayJoin(Operation *op) {
  // What a broadcast reads is whole, and parts of memory are not stored before
  // all of them are loaded.
  if (isa<tile::BroadcastOp>(op) && reads(op))
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    if (stored.contains(rootOf(load.getSource())))
      return false;
  if (auto store = dyn_cast<tile::StoreOp>(op))
    if (loaded.contains(rootOf(store.getDest())))
      return false;
  // The result of a reduction is complete when the run is.
  if (llvm::any_of(op->getOperands(), [&](Value operand) {
        return operand.getDefiningOp<tile::ReduceOp>() &&
               made.contains(operand);
      }))
    return false;
  // Sums are alive from the first part to the last.
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    sums += tile::layoutOf(reduce.getResult().getType())->registerCount();
    return sums <= mostRunSums || run.members.empty();
  }
  return true;
}

void RunFinder::join(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    loaded.insert(rootOf(load.getSource()));
  if (auto store = dyn_cast<tile::StoreOp>(op))
    stored.insert(rootOf(store.getDest()));
  run.members.push_back(op);
  made.insert(op->result_begin(), op->result_end());
}

bool RunFinder::mayPrecede(Operation *op) const {
  if (reads(op) || op->getNumRegions() > 0)
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return !stored.contains(rootOf(load.getSource()));
  if (isa<memref::LoadOp>(op))
    return stored.empty();
  // So may a barrier where the run has read nothing yet but what nobody writes.
  if (isa<tile::BarrierOp>(op))
    return stored.empty() && llvm::all_of(loaded, [&](Value root) {
             return inputs.contains(root);
           });
  return isPure(op) || isa<tile::AllocOp>(op);
}

Run RunFinder::find(Operation *first) {
  Operation *op = first;
  for (; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
    if (!isAlike(op)) {
      if (!mayPrecede(op))
        break;
      run.others.push_back(op);
      continue;
    }
    if (!mayJoin(op))
      break;
    join(op);
    // Its barrier comes when the run has ended: nothing behind it may be in the
    // run.
    if (auto reduce = dyn_cast<tile::ReduceOp>(op);
        reduce && reduce.getScratch()) {
      op = op->getNextNode();
      break;
    }
  }
  run.next = op;
  return run;
}

} // namespace

std::optional<Run> findRun(Operation *first, const DenseSet<Value> &inputs) {
  Value tile = runTile(first);
  if (!tile)
    return std::nullopt;
  Layout layout = *tile::layoutOf(tile.getType());
  int64_t count = layout.registerCount();
  if (count < 2)
    return std::nullopt;
  Run run = RunFinder(layout, inputs).find(first);
  if (run.members.size() < 2)
    return std::nullopt;
  // Small tiles are written whole, where that keeps within registers.
  if (run.isSmall() && stepOfRun(run.members, count) == count)
    return std::nullopt;
  return run;
}

} // namespace drawloom::nvptx
