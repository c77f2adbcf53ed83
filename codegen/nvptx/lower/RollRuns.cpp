//===- RollRuns.cpp - long runs as loops over registers -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run writes all of its ops for the first registers of its tiles, then for
// the next ones. Where that would be thousands of instructions, the registers
// become a loop: the same operations on the same numbers in the same order, but
// once in the code. What that saves is compile time, the instruction cache,
// and registers into which everything would be loaded ahead.
//
// Registers have no addresses, so what a loop works on must come out of memory
// and go back there, or be added up.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerRuns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Operations of one register that a run may have written out.
static constexpr int64_t mostUnrolled = 768;
/// Registers of a tile that one turn of a loop works on, where these are
/// turns of less: loads that are under way together.
static constexpr int64_t turnRegisters = 16;
/// The same of runs that only load and add up: written out, ptxas loads all of
/// it ahead, and that of what comes next.
static constexpr int64_t mostUnrolledSums = 64;
static constexpr int64_t turnRegistersOfSums = 20;

namespace {
/// The slowest digits of a layout's registers, as one.
struct Slowest {
  Digit digit;
  /// Registers that the other digits count.
  int64_t inner = 1;
};
} // namespace

static std::optional<Slowest> slowestOf(const Layout &layout) {
  if (layout.registers.empty() || layout.registers.back().replicated())
    return std::nullopt;
  Slowest result{layout.registers.back(), layout.registerCount()};
  for (const Digit &digit :
       llvm::reverse(ArrayRef(layout.registers).drop_back())) {
    if (digit.dim != result.digit.dim ||
        digit.stride * digit.extent != result.digit.stride)
      break;
    // What is next to each other in memory is read at once.
    if (digit.stride == 1)
      break;
    result.digit.stride = digit.stride;
    result.digit.extent *= digit.extent;
  }
  result.inner /= result.digit.extent;
  return result;
}

std::optional<std::string> LowerRuns::whyUnrolled(const Run &run, int64_t dim,
                                                  int64_t inner) {
  DenseSet<Value> made;
  auto repeats = [&](const Registers &values) {
    for (size_t i = inner; i < values.size(); ++i)
      if (values[i] != values[i - inner])
        return false;
    return true;
  };
  auto named = [](Operation *op) {
    return "'" + op->getName().getStringRef().str() + "'";
  };
  for (Operation *op : run.members) {
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      const Registers source = program.registers.lookup(broadcast.getSource());
      RegisterRange all = ThreadProgram::all(broadcast.getResult());
      if (!repeats(broadcastRegisters(broadcast, source, all)))
        return "the result of " + named(op) +
               " is another in each group of registers";
    } else {
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()) &&
            !made.contains(operand) &&
            !repeats(program.registers.lookup(operand)))
          return "an operand of " + named(op) + " is in registers";
    }
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    if (reduce && !llvm::is_contained(reduce.getDims(), dim))
      return named(op) + " has a result for each group of registers";
    for (Value result : op->getResults()) {
      made.insert(result);
      if (!reduce && llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(run.members, user);
          }))
        return "the result of " + named(op) + " is kept in registers";
    }
  }
  return std::nullopt;
}

Registers LowerRuns::startsOf(ArrayRef<tile::ReduceOp> sums) {
  Registers starts;
  for (tile::ReduceOp reduce : sums) {
    if (Value carried = LowerReductions::carriedSum(reduce)) {
      llvm::append_range(starts, program.registers.lookup(carried));
      continue;
    }
    Value neutral = reductions.neutral(
        reduce.getKind(), getElementTypeOrSelf(reduce.getResult()));
    starts.append(ThreadProgram::all(reduce.getResult()).end, neutral);
  }
  return starts;
}

void LowerRuns::writeLoop(const Run &run, Turns turns) {
  ImplicitLocOpBuilder &builder = program.builder;
  SmallVector<tile::ReduceOp> sums;
  for (Operation *op : run.members)
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      sums.push_back(reduce);
  Registers starts = startsOf(sums);
  program.at(run.members.front());
  auto loop =
      scf::ForOp::create(builder, program.index(0), program.index(turns.extent),
                         program.index(turns.step), starts);
  {
    OpBuilder::InsertionGuard guard(builder);
    if (starts.empty())
      loop.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(loop.getBody());
    size_t next = 0;
    for (tile::ReduceOp reduce : sums)
      program.takeFlat(reduce.getResult(), loop.getRegionIterArgs(), next);
    program.rolled = {turns.dim, program.toI64(loop.getInductionVar())};
    for (int64_t begin = 0; begin < turns.registers; begin += partRegisters)
      for (Operation *op : run.members) {
        program.count();
        lowerPart(op,
                  {begin, std::min(begin + partRegisters, turns.registers)});
      }
    program.rolled = {};
    SmallVector<Value> yields;
    for (tile::ReduceOp reduce : sums)
      program.appendFlat(reduce.getResult(), yields);
    scf::YieldOp::create(builder, yields);
  }
  for (Operation *op : run.members)
    for (Value result : op->getResults())
      program.registers.erase(result);
  size_t next = 0;
  for (tile::ReduceOp reduce : sums)
    program.takeFlat(reduce.getResult(), loop.getResults(), next);
}

bool LowerRuns::roll(const Run &run) {
  ArrayRef<Operation *> members = run.members;
  int64_t count = run.layout.registerCount();
  bool sumsOnly = llvm::all_of(members, [](Operation *op) {
    return isa<tile::LoadOp, tile::ReduceOp>(op);
  });
  if (count * static_cast<int64_t>(members.size()) <=
      (sumsOnly ? mostUnrolledSums : mostUnrolled))
    return false;
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("nvptx-lower-tiles")
        .function(program.kernel.getName());
  };
  auto missed = [&](const Twine &why) {
    remark::missed(members.front()->getLoc(), options("Unrolled"))
        << remark::reason("{0}", why.str())
        << remark::metric("ops", members.size())
        << remark::metric("registers", count);
    return false;
  };
  std::optional<Slowest> slowest = slowestOf(run.layout);
  if (!slowest)
    return missed("a tile repeats itself in registers");
  const Digit digit = slowest->digit;
  int64_t turn = 1;
  for (int64_t i = 1; i <= digit.extent; ++i)
    if (digit.extent % i == 0 &&
        i * slowest->inner <= (sumsOnly ? turnRegistersOfSums : turnRegisters))
      turn = i;
  if (digit.extent / turn < 2)
    return missed("too few groups of registers");
  if (std::optional<std::string> why =
          whyUnrolled(run, digit.dim, slowest->inner))
    return missed(*why);
  writeLoop(run, {digit.dim, turn * digit.stride, digit.extent * digit.stride,
                  turn * slowest->inner});
  remark::passed(members.front()->getLoc(), options("Rolled"))
      << remark::metric("ops", members.size())
      << remark::metric("registers", count)
      << remark::metric("turns", digit.extent / turn);
  return true;
}

} // namespace drawloom::nvptx
