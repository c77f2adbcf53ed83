//===- LowerReductions.cpp - sums and scans over registers ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerReductions.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/lower/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

static arith::AtomicRMWKind atomicKind(tile::Combiner kind, Type type) {
  bool real = isa<FloatType>(type);
  switch (kind) {
  case tile::Combiner::Add:
    return real ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case tile::Combiner::Mul:
    return real ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
  case tile::Combiner::Max:
    return real ? arith::AtomicRMWKind::maximumf : arith::AtomicRMWKind::maxs;
  case tile::Combiner::Min:
    return real ? arith::AtomicRMWKind::minimumf : arith::AtomicRMWKind::mins;
  case tile::Combiner::MaxNum:
    return arith::AtomicRMWKind::maxnumf;
  case tile::Combiner::MinNum:
    return arith::AtomicRMWKind::minnumf;
  case tile::Combiner::And:
    return arith::AtomicRMWKind::andi;
  case tile::Combiner::Or:
    return arith::AtomicRMWKind::ori;
  }
  llvm_unreachable("all combiners are listed");
}

Value LowerReductions::combine(tile::Combiner kind, Value a, Value b) {
  program.count();
  return arith::getReductionOp(atomicKind(kind, a.getType()), builder,
                               builder.getLoc(), a, b);
}

Value LowerReductions::neutral(tile::Combiner kind, Type type) {
  return arith::getIdentityValue(atomicKind(kind, type), type, builder,
                                 builder.getLoc());
}

Value LowerReductions::carriedSum(tile::ReduceOp op) {
  if (!op.getWithinThread() || !op->hasOneUse())
    return {};
  auto add = dyn_cast<arith::AddFOp>(*op->getUsers().begin());
  if (!add || add.getRhs() != op.getResult())
    return {};
  auto carried = dyn_cast<BlockArgument>(add.getLhs());
  return carried && carried.hasOneUse() ? Value(carried) : Value();
}

void LowerReductions::lowerReduce(tile::ReduceOp op, RegisterRange range) {
  Layout source = *tile::layoutOf(op.getSource().getType());
  Layout result = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getSource().getType());
  int64_t rank = type.getRank();
  // Padding along the reduced dimensions must not count.
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> extents = source.extents(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(builder.getIndexAttr(llvm::is_contained(op.getDims(), dim)
                                             ? type.getDimSize(dim)
                                             : extents[dim]));
  const Registers values = program.registers.lookup(op.getSource());
  Registers &results = program.registers[op.getResult()];
  // A thread's own share is added to what it carries at once: two sets of sums
  // would need twice the registers.
  if (results.empty())
    if (Value carried = carriedSum(op))
      results = program.registers.lookup(carried);
  results.resize(result.registerCount());
  for (int64_t i = range.begin; i < range.end; ++i) {
    SmallVector<int64_t> at = source.registerOffset(i, rank);
    SmallVector<int64_t> there;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (!llvm::is_contained(op.getDims(), dim))
        there.push_back(at[dim]);
      else if (op.getWithinThread())
        there.push_back(0);
    }
    Value value = values[i];
    if (Value condition =
            accesses.inside(sizes, source, type.getShape(), Access{{i}, at}))
      value = arith::SelectOp::create(builder, condition, value,
                                      neutral(op.getKind(), value.getType()));
    Value &sum = results[*result.registerAt(there)];
    sum = sum ? combine(op.getKind(), sum, value) : value;
  }
}

void LowerReductions::reduceAcrossLanes(tile::ReduceOp op) {
  if (op.getWithinThread())
    return;
  Layout source = *tile::layoutOf(op.getSource().getType());
  Registers results = program.registers.lookup(op.getResult());
  for (auto [bit, digit] : llvm::enumerate(source.lanes)) {
    if (digit.replicated() || !llvm::is_contained(op.getDims(), digit.dim))
      continue;
    for (Value &sum : results)
      sum =
          combine(op.getKind(), sum, shuffle(program, sum, int64_t(1) << bit));
  }
  if (op.getScratch())
    reduceAcrossWarps(op, source, results);
  program.registers[op.getResult()] = std::move(results);
}

void LowerReductions::reduceAcrossWarps(tile::ReduceOp op, const Layout &source,
                                        Registers &results) {
  Layout layout = *tile::layoutOf(op.getResult().getType());
  const Memory &memory = views.memoryOf(op.getScratch());
  int64_t bytes = elementBytes(memory.element);
  // Row s of the scratch is the share of the warps whose reduced bits are s.
  ThreadBits bits;
  int64_t shares = 1, replicas = 0;
  for (auto [i, digit] : llvm::enumerate(source.warps)) {
    if (digit.replicated()) {
      replicas |= int64_t(1) << (Layout::laneBits + i);
    } else if (llvm::is_contained(op.getDims(), digit.dim)) {
      bits.push_back({Layout::laneBits + i, shares * memory.strides[0]});
      shares *= 2;
    }
  }
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    if (digit.replicated())
      replicas |= int64_t(1) << i;
  // Who writes a result reads it too: in a row the threads' registers lie as
  // the banks like them, as many together as one access moves.
  ThreadBits threadBits;
  auto count = static_cast<int64_t>(results.size());
  int64_t width = bytes == 1 ? 1 : 16 / bytes, threads = 1;
  while (count % width != 0)
    width /= 2;
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    if (!digit.replicated()) {
      threadBits.push_back({i, threads * width});
      threads *= 2;
    }
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (!digit.replicated()) {
      threadBits.push_back({Layout::laneBits + i, threads * width});
      threads *= 2;
    }
  Value own = program.offsetOfBits(threadBits);
  Value from = accesses.addElements(memory.root, own, memory.element);
  Value share = program.offsetOfBits(bits);
  Value to = accesses.addElements(from, share, memory.element);
  auto place = [&](int64_t i) { return i * threads * bytes; };
  // A row of the scratch for each share, elements behind each other in it.
  auto placeOf = [&](int64_t share, int64_t i, bool ofWarp) {
    SmallVector<Digit> digits = DescribeAccess::threadDigits(layout);
    int64_t stride = width;
    for (Digit &digit : digits)
      if (!digit.replicated()) {
        digit = {1, stride};
        stride *= 2;
      }
    for (auto [i, bit] : llvm::enumerate(bits))
      if (ofWarp)
        digits[bit.first] = {0, int64_t(1) << i};
    Memory both = memory;
    both.strides = {memory.strides[0], 1};
    both.sizes = {builder.getIndexAttr(shares),
                  builder.getIndexAttr(memory.strides[0])};
    return descriptions.element(both, {share, i * threads}, digits);
  };
  Value owner;
  if (replicas != 0) {
    Value copy = arith::AndIOp::create(builder, program.thread,
                                       program.constant(replicas, 32));
    owner = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, copy,
                                  program.constant(0, 32));
  }
  accesses.underCondition(owner, [&] {
    for (int64_t i = 0; i < count; i += width)
      accesses.storeVector(accesses.addBytes(to, place(i)),
                           ArrayRef(results).slice(i, width),
                           placeOf(0, i, true));
  });
  NVVM::Barrier0Op::create(builder);
  for (int64_t i = 0; i < count; i += width) {
    SmallVector<Value> sums;
    for (int64_t s = 0; s < shares; ++s) {
      Value at =
          accesses.addBytes(from, place(i) + s * memory.strides[0] * bytes);
      SmallVector<Value> part;
      accesses.unpack(accesses.loadVector(at, memory.element, width, {}, {},
                                          placeOf(s, i, false)),
                      memory.element, width, part);
      for (auto [k, value] : llvm::enumerate(part)) {
        if (s == 0)
          sums.push_back(value);
        else
          sums[k] = combine(op.getKind(), sums[k], value);
      }
    }
    llvm::copy(sums, results.begin() + i);
  }
}

Value LowerReductions::before(tile::ScanOp op, const Layout::Runs &runs,
                              Value sum) {
  // In each step two neighbouring groups of runs become one.
  Value none = neutral(op.getKind(), sum.getType()), result = none;
  for (auto [i, bit] : llvm::enumerate(runs.lanes)) {
    Value other = shuffle(program, sum, int64_t(1) << bit);
    Value own = arith::AndIOp::create(builder, program.thread,
                                      program.constant(int64_t(1) << bit, 32));
    Value isFirst = arith::CmpIOp::create(
        builder,
        op.getReverse() ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq,
        own, program.constant(0, 32));
    Value share = arith::SelectOp::create(builder, isFirst, none, other);
    result = i == 0 ? share : combine(op.getKind(), share, result);
    if (i + 1 < runs.lanes.size())
      sum = combine(op.getKind(), sum, other);
  }
  return result;
}

void LowerReductions::lowerScan(tile::ScanOp op) {
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t dim = op.getDimension();
  Layout::Runs runs = *layout.runsAlong(dim, type.getDimSize(dim));
  // Of several runs what is beyond the tile would count.
  int64_t length = runs.lanes.empty() ? type.getDimSize(dim) : runs.length;
  const Registers values = program.registers.lookup(op.getSource());
  Registers results(layout.registerCount());
  for (int64_t first = 0; first < layout.registerCount(); ++first) {
    SmallVector<int64_t> at = layout.registerOffset(first, type.getRank());
    if (at[dim] != 0)
      continue;
    SmallVector<int64_t> places;
    for (int64_t step = 0; step < length; ++step) {
      at[dim] = op.getReverse() ? length - 1 - step : step;
      places.push_back(*layout.registerAt(at));
    }
    Value sum;
    for (int64_t place : places) {
      Value last = sum ? sum : neutral(op.getKind(), values[place].getType());
      sum = sum ? combine(op.getKind(), sum, values[place]) : values[place];
      results[place] = op.getExclusive() ? last : sum;
    }
    if (runs.lanes.empty())
      continue;
    Value start = before(op, runs, sum);
    for (int64_t place : places) {
      if (place == places.front() && op.getExclusive()) {
        results[place] = start;
        continue;
      }
      results[place] = combine(op.getKind(), results[place], start);
      // Where an exponential allows it, the start may go with what is taken
      // away (LowerMath.cpp).
      if (auto sum = results[place].getDefiningOp<arith::AddFOp>())
        sum.setFastmath(arith::FastMathFlags::reassoc);
    }
  }
  program.registers[op.getResult()] = std::move(results);
}

} // namespace drawloom::nvptx
