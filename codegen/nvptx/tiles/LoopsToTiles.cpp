//===- LoopsToTiles.cpp - loops and branches of a block -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/tiles/BlockToTile.h"

using namespace mlir;

namespace drawloom::nvptx {

LogicalResult BlockToTile::convertFor(scf::ForOp op) {
  SmallVector<Value> inits;
  SmallVector<unsigned> carried;
  DenseSet<Value> taken;
  for (auto [i, init] : llvm::enumerate(op.getInitArgs())) {
    if (!isa<RankedTensorType>(init.getType())) {
      inits.push_back(homes.scalars.lookup(init));
      carried.push_back(i);
      continue;
    }
    BlockArgument inside = op.getRegionIterArg(i);
    if (!needsMemory(inside)) {
      FailureOr<Value> elements = homes.asTile(init);
      if (failed(elements))
        return failure();
      inits.push_back(*elements);
      carried.push_back(i);
      continue;
    }
    FailureOr<Value> memory = homes.memoryToChange(init, op);
    // Two that start as the same tensor change apart.
    if (succeeded(memory) && !taken.insert(*memory).second)
      memory = homes.ownMemory(init);
    if (failed(memory))
      return failure();
    homes.setMemory(inside, *memory, /*writable=*/true);
    homes.setMemory(op.getResult(i), *memory, /*writable=*/true);
  }
  auto loop = scf::ForOp::create(builder, op.getLoc(),
                                 homes.scalars.lookup(op.getLowerBound()),
                                 homes.scalars.lookup(op.getUpperBound()),
                                 homes.scalars.lookup(op.getStep()), inits);
  homes.scalars.map(op.getInductionVar(), loop.getInductionVar());
  for (auto [i, at] : llvm::enumerate(carried)) {
    if (!isa<RankedTensorType>(op.getRegionIterArg(at).getType())) {
      homes.scalars.map(op.getRegionIterArg(at), loop.getRegionIterArg(i));
      homes.scalars.map(op.getResult(at), loop.getResult(i));
      continue;
    }
    homes.setTile(op.getRegionIterArg(at), loop.getRegionIterArg(i));
    homes.setTile(op.getResult(at), loop.getResult(i));
  }
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(loop.getBody());
  if (failed(convertBody(*op.getBody())))
    return failure();
  SmallVector<Value> yields;
  SmallVector<std::pair<Value, Value>> stores;
  for (auto [i, value] : llvm::enumerate(op.getYieldedValues())) {
    if (!isa<RankedTensorType>(value.getType())) {
      yields.push_back(homes.scalars.lookup(value));
      continue;
    }
    if (llvm::is_contained(carried, i)) {
      FailureOr<Value> elements = homes.asTile(value);
      if (failed(elements))
        return failure();
      yields.push_back(*elements);
      continue;
    }
    Value memory = homes[op.getRegionIterArg(i)].value;
    if (homes[value].kind == Home::Memory && homes[value].value == memory)
      continue;
    FailureOr<Value> elements = homes.asTile(value);
    if (failed(elements))
      return failure();
    stores.push_back({*elements, memory});
  }
  for (auto [elements, memory] : stores)
    tile::StoreOp::create(builder, op.getLoc(), elements, memory);
  scf::YieldOp::create(builder, op.getLoc(), yields);
  return success();
}

/// What is carried is in registers.
LogicalResult BlockToTile::convertWhile(scf::WhileOp op) {
  auto bringAll = [&](ValueRange values) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> out;
    for (Value value : values) {
      if (!isa<RankedTensorType>(value.getType())) {
        out.push_back(homes.scalars.lookup(value));
        continue;
      }
      FailureOr<Value> elements = homes.asTile(value);
      if (failed(elements))
        return failure();
      out.push_back(*elements);
    }
    return out;
  };
  auto bindAll = [&](ValueRange from, ValueRange to) {
    for (auto [old, value] : llvm::zip(from, to))
      if (isa<RankedTensorType>(value.getType()))
        homes.setTile(old, value);
      else
        homes.scalars.map(old, value);
  };
  FailureOr<SmallVector<Value>> inits = bringAll(op.getInits());
  if (failed(inits))
    return failure();
  auto loop =
      scf::WhileOp::create(builder, op.getLoc(), op.getResultTypes(), *inits);
  OpBuilder::InsertionGuard guard(builder);
  for (unsigned i = 0; i < 2; ++i) {
    Block &from = op->getRegion(i).front();
    Block *to = builder.createBlock(
        &loop->getRegion(i), {}, from.getArgumentTypes(),
        SmallVector<Location>(from.getNumArguments(), op.getLoc()));
    bindAll(from.getArguments(), to->getArguments());
    if (failed(convertBody(from)))
      return failure();
    FailureOr<SmallVector<Value>> passed =
        bringAll(i == 0 ? ValueRange(op.getConditionOp().getArgs())
                        : ValueRange(op.getYieldOp().getOperands()));
    if (failed(passed))
      return failure();
    if (i == 0)
      scf::ConditionOp::create(
          builder, op.getLoc(),
          homes.scalars.lookup(op.getConditionOp().getCondition()), *passed);
    else
      scf::YieldOp::create(builder, op.getLoc(), *passed);
  }
  bindAll(op.getResults(), loop.getResults());
  return success();
}

/// The tensor from outside of `region` that this one is a changed form of;
/// itself, where it is none.
static Value changedFrom(Value value, Region &region) {
  while (region.isAncestor(value.getParentRegion())) {
    Operation *def = value.getDefiningOp();
    if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(def))
      value = insert.getDest();
    else if (auto insert = dyn_cast_or_null<tensor::InsertOp>(def))
      value = insert.getDest();
    else if (auto scatter = dyn_cast_or_null<block::ScatterOp>(def))
      value = scatter.getDest();
    else if (auto loop = dyn_cast_or_null<scf::ForOp>(def))
      value = loop.getTiedLoopInit(cast<OpResult>(value))->get();
    else
      break;
  }
  return value;
}

LogicalResult BlockToTile::convertIf(scf::IfOp op) {
  // A tensor that branches change part by part, or leave as it is, is changed
  // in its memory.
  SmallVector<Type> types;
  SmallVector<unsigned> tiles;
  SmallVector<std::pair<unsigned, Value>> inPlace;
  // Two results that start as the same tensor change apart.
  DenseMap<Value, unsigned> starts;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (isa<RankedTensorType>(op.getResult(i).getType()))
      ++starts[changedFrom(op.thenYield().getOperand(i), op.getThenRegion())];
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isa<RankedTensorType>(result.getType())) {
      Value from =
          changedFrom(op.thenYield().getOperand(i), op.getThenRegion());
      Value other =
          changedFrom(op.elseYield().getOperand(i), op.getElseRegion());
      bool changed = op.thenYield().getOperand(i) != from ||
                     op.elseYield().getOperand(i) != from;
      if (from == other && changed && starts[from] == 1 &&
          homes.mayChange(from, op)) {
        homes.setMemory(result, homes[from].value, /*writable=*/true);
        inPlace.push_back({i, homes[from].value});
        continue;
      }
    }
    types.push_back(result.getType());
    tiles.push_back(i);
  }
  auto branch = scf::IfOp::create(builder, op.getLoc(), types,
                                  homes.scalars.lookup(op.getCondition()),
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/!op.getElseRegion().empty());
  OpBuilder::InsertionGuard guard(builder);
  auto convertBranch = [&](Block &from, Block &to) -> LogicalResult {
    if (!to.empty())
      to.getTerminator()->erase();
    builder.setInsertionPointToEnd(&to);
    // What a branch changes in place is not changed in the other one.
    Homes::Saved before = homes.save();
    if (failed(convertBody(from)))
      return failure();
    SmallVector<Value> yields;
    for (unsigned i : tiles) {
      Value value = from.getTerminator()->getOperand(i);
      if (!isa<RankedTensorType>(value.getType())) {
        yields.push_back(homes.scalars.lookup(value));
        continue;
      }
      FailureOr<Value> elements = homes.asTile(value);
      if (failed(elements))
        return failure();
      yields.push_back(*elements);
    }
    // A branch that had to make a copy brings it back.
    for (auto &[i, memory] : inPlace) {
      Value value = from.getTerminator()->getOperand(i);
      if (homes[value].kind == Home::Memory && homes[value].value == memory)
        continue;
      FailureOr<Value> elements = homes.asTile(value);
      if (failed(elements))
        return failure();
      tile::StoreOp::create(builder, op.getLoc(), *elements, memory);
    }
    homes.restore(std::move(before));
    scf::YieldOp::create(builder, op.getLoc(), yields);
    return success();
  };
  if (failed(convertBranch(*op.thenBlock(), *branch.thenBlock())))
    return failure();
  if (!op.getElseRegion().empty() &&
      failed(convertBranch(*op.elseBlock(), *branch.elseBlock())))
    return failure();
  for (auto [i, to] : llvm::zip(tiles, branch.getResults())) {
    Value from = op.getResult(i);
    if (isa<RankedTensorType>(from.getType()))
      homes.setTile(from, to);
    else
      homes.scalars.map(from, to);
  }
  return success();
}

} // namespace drawloom::nvptx
