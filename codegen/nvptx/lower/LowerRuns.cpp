//===- LowerRuns.cpp - runs of ops, part by part -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerRuns.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace drawloom::nvptx {

void LowerRuns::lowerPart(Operation *op, RegisterRange range) {
  program.at(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::SplatOp>([&](auto op) { registers.lowerSplat(op, range); })
      .Case<tile::IotaOp>([&](auto op) { registers.lowerIota(op, range); })
      .Case<tile::BroadcastOp>(
          [&](auto op) { registers.lowerBroadcast(op, range); })
      .Case<tile::LoadOp>([&](auto op) { memory.lowerLoad(op, range); })
      .Case<tile::StoreOp>([&](auto op) { memory.lowerStore(op, range); })
      .Case<tile::ReduceOp>([&](auto op) { reductions.lowerReduce(op, range); })
      .Default([&](Operation *op) { elementwise.lower(op, range); });
}

LogicalResult LowerRuns::lower(const Run &run) {
  if ((run.isSmall() || !roll(run)) && failed(unroll(run)))
    return failure();
  for (Operation *member : run.members)
    if (auto reduce = dyn_cast<tile::ReduceOp>(member)) {
      program.at(reduce);
      reductions.reduceAcrossLanes(reduce);
    }
  return success();
}

LogicalResult
LowerRuns::lowerMembers(const Run &run, RegisterRange range,
                        llvm::function_ref<bool(Operation *)> wanted) {
  for (Operation *member : run.members) {
    if (!wanted(member))
      continue;
    if (failed(program.countWithinLimit()))
      return failure();
    lowerPart(member, range);
  }
  return success();
}

LogicalResult LowerRuns::unroll(const Run &run) {
  // Memory is read and written by whole vectors, at both ends of a part; what
  // is in between takes few enough registers at once.
  auto isLoad = [](Operation *op) { return isa<tile::LoadOp>(op); };
  auto isStore = [](Operation *op) { return isa<tile::StoreOp>(op); };
  auto isBetween = [&](Operation *op) { return !isLoad(op) && !isStore(op); };
  int64_t count = run.layout.registerCount();
  int64_t step = stepOfRun(run.members, partRegisters);
  for (int64_t begin = 0; begin < count; begin += partRegisters) {
    RegisterRange part{begin, std::min(begin + partRegisters, count)};
    if (failed(lowerMembers(run, part, isLoad)))
      return failure();
    for (int64_t at = part.begin; at < part.end; at += step)
      if (failed(lowerMembers(run, {at, std::min(at + step, part.end)},
                              isBetween)))
        return failure();
    if (failed(lowerMembers(run, part, isStore)))
      return failure();
  }
  return success();
}

} // namespace drawloom::nvptx
