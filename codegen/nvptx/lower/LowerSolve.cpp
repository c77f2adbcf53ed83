//===- LowerSolve.cpp - triangular systems --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row after row of the solution takes away what the rows before it add to its
// right-hand side. Either a thread has all rows of a column, or neighbouring
// lanes have every second, fourth, ... row of it: then the lane that has a row
// hands it to the others, and each takes it away from its own rows behind. The
// terms of a row are added in the same order either way, so that the bits do
// not depend on the number of warps.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <map>

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Elements of the matrix that a thread loads at a time: its own of them, and
/// where it shares a column.
static constexpr int64_t mostFactors = 16, mostSharedFactors = 32;

static SmallVector<int64_t> registersOfRow(const Layout &layout, int64_t row) {
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < layout.registerCount(); ++i)
    if (layout.registerOffset(i, 2)[0] == row)
      places.push_back(i);
  return places;
}

LogicalResult LowerKernel::lowerSolve(tile::SolveOp op) {
  Layout layout = *tile::layoutOf(op.getResult().getType());
  Registers values = registers.lookup(op.getRhs());
  bool shared = llvm::any_of(layout.lanes,
                             [](const Digit &digit) { return digit.dim == 0; });
  if (shared)
    solveAcrossLanes(op, layout, values);
  else
    solveInThreads(op, layout, values);
  registers[op.getResult()] = std::move(values);
  return success();
}

void LowerKernel::solveInThreads(tile::SolveOp op, const Layout &layout,
                                 Registers &values) {
  const Memory &memory = memoryOf(op.getMatrix());
  int64_t n = cast<RankedTensorType>(op.getResult().getType()).getDimSize(0);
  int64_t bytes = bytesOf(memory.element);
  auto element = [&](int64_t row, int64_t column) {
    if (op.getTranspose())
      std::swap(row, column);
    int64_t at = row * memory.strides[0] + column * memory.strides[1];
    Value address = addElements(memory.root, memory.offset, memory.element);
    SmallVector<Value> value;
    unpack(loadVector(addBytes(address, at * bytes), memory.element, 1, {}, {},
                      describe(memory, {row, column}, {})),
           memory.element, 1, value);
    return value[0];
  };
  SmallVector<SmallVector<int64_t>> places;
  for (int64_t row = 0; row < n; ++row)
    places.push_back(registersOfRow(layout, row));
  auto rowAt = [&](int64_t i) { return op.getReverse() ? n - 1 - i : i; };
  // The matrix's elements that a row needs, negated.
  auto load = [&](int64_t i) {
    SmallVector<Value> factors;
    for (int64_t j = 0; j < i; ++j)
      factors.push_back(
          arith::NegFOp::create(builder, loc, element(rowAt(i), rowAt(j))));
    return factors;
  };
  // Assemblers load early whatever they may, and run out of registers: not so
  // across the synchronisation of a warp. So elements come a group of rows
  // ahead of their use.
  auto group = [&](int64_t begin) {
    int64_t end = begin, elements = 0;
    while (end < n && (end == begin || elements + end <= mostFactors))
      elements += end++;
    return end;
  };
  std::map<int64_t, SmallVector<Value>> factors;
  auto loadGroup = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      factors[i] = load(i);
  };
  int64_t begin = 0, end = group(0);
  loadGroup(begin, end);
  while (begin < n) {
    int64_t next = group(end);
    if (end < n) {
      loadGroup(end, next);
      NVVM::SyncWarpOp::create(builder, loc, constant(-1, 32));
      ++ops;
    }
    for (int64_t i = begin; i < end; ++i) {
      int64_t row = rowAt(i);
      for (int64_t j = 0; j < i; ++j)
        for (auto [here, there] : llvm::zip(places[row], places[rowAt(j)])) {
          values[here] = math::FmaOp::create(builder, loc, factors[i][j],
                                             values[there], values[here]);
          ++ops;
        }
      factors.erase(i);
      if (!op.getUnit()) {
        Value diagonal = element(row, row);
        for (int64_t here : places[row])
          values[here] =
              arith::DivFOp::create(builder, loc, values[here], diagonal);
      }
    }
    begin = end;
    end = next;
  }
}

void LowerKernel::solveAcrossLanes(tile::SolveOp op, const Layout &layout,
                                   Registers &values) {
  const Memory &memory = memoryOf(op.getMatrix());
  int64_t n = cast<RankedTensorType>(op.getResult().getType()).getDimSize(0);
  int64_t bytes = bytesOf(memory.element);
  // Row r is register r / lanes of lane r % lanes among those of a column.
  int64_t lanes = 1, rowBits = 0;
  SmallVector<std::pair<int64_t, int64_t>> bits;
  for (auto [bit, digit] : llvm::enumerate(layout.lanes))
    if (digit.dim == 0) {
      bits.push_back({bit, digit.stride});
      rowBits |= int64_t(1) << bit;
      lanes *= 2;
    }
  int64_t depth = n / lanes;
  Value lane = valueOfBits(bits);
  Value others =
      arith::AndIOp::create(builder, loc, thread, constant(31 & ~rowBits, 32));
  // The thread's own rows, or columns, of the matrix.
  int64_t along = op.getTranspose() ? 1 : 0;
  SmallVector<std::pair<int64_t, int64_t>> elements;
  for (auto [bit, stride] : bits)
    elements.push_back({bit, stride * memory.strides[along]});
  Value own = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                     valueOfBits(elements));
  Value address =
      addElements(addElements(memory.root, memory.offset, memory.element), own,
                  memory.element);
  SmallVector<Digit> threads = threadDigits(layout);
  for (Digit &digit : threads)
    digit = digit.dim == 0 ? Digit{along, digit.stride} : Digit();
  auto load = [&](Value address, int64_t row, int64_t column, int64_t count,
                  ArrayRef<Digit> threads) {
    if (op.getTranspose())
      std::swap(row, column);
    int64_t at = row * memory.strides[0] + column * memory.strides[1];
    SmallVector<Value> values;
    unpack(loadVector(addBytes(address, at * bytes), memory.element, count, {},
                      {}, describe(memory, {row, column}, threads)),
           memory.element, count, values);
    return values;
  };
  auto rowAt = [&](int64_t i) { return op.getReverse() ? n - 1 - i : i; };
  /// Registers with rows behind row `i` of the order, in some lane.
  auto behind = [&](int64_t i) {
    int64_t at = rowAt(i) / lanes;
    return op.getReverse() ? llvm::seq<int64_t>(0, at + 1)
                           : llvm::seq<int64_t>(at, depth);
  };
  // As above, elements come ahead of their use: those of so many rows, which
  // are neighbours in memory where the matrix is not transposed.
  int64_t group = 4;
  while (group > 1 && (group * depth > mostSharedFactors || n % group != 0))
    group /= 2;
  bool vectors = !op.getTranspose() && memory.strides[1] == 1 &&
                 memory.strides[0] % group == 0 &&
                 memory.alignment % (group * bytes) == 0;
  // What rows are multiplied with in the rows behind them, negated.
  auto loadGroup = [&](int64_t begin) {
    SmallVector<SmallVector<Value>> factors(group, SmallVector<Value>(depth));
    for (int64_t at : behind(begin)) {
      SmallVector<Value> neighbours;
      if (vectors)
        neighbours = load(address, at * lanes,
                          std::min(rowAt(begin), rowAt(begin + group - 1)),
                          group, threads);
      for (int64_t i = begin; i < begin + group; ++i) {
        int64_t row = rowAt(i);
        if (!llvm::is_contained(behind(i), at))
          continue;
        Value factor = vectors ? neighbours[row % group]
                               : load(address, at * lanes, row, 1, threads)[0];
        factor = arith::NegFOp::create(builder, loc, factor);
        factors[i - begin][at] = factor;
      }
    }
    return factors;
  };
  SmallVector<SmallVector<int64_t>> places;
  for (int64_t at = 0; at < depth; ++at)
    places.push_back(registersOfRow(layout, at * lanes));
  auto solve = [&](int64_t i, ArrayRef<Value> factors) {
    int64_t row = rowAt(i), at = row / lanes;
    int64_t holder = 0;
    for (auto [bit, stride] : bits)
      if (row % lanes & stride)
        holder |= int64_t(1) << bit;
    Value from =
        arith::OrIOp::create(builder, loc, others, constant(holder, 32));
    // In the register that the row itself is in, some lanes have rows before
    // it, which are solved.
    Value isBehind = arith::CmpIOp::create(
        builder, loc,
        op.getReverse() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::ugt,
        lane, constant(row % lanes, 32));
    Value diagonal, isHolder;
    if (!op.getUnit()) {
      Value start = addElements(memory.root, memory.offset, memory.element);
      diagonal = load(start, row, row, 1, {})[0];
      isHolder = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       lane, constant(row % lanes, 32));
    }
    for (size_t column = 0; column < places[at].size(); ++column) {
      Value &own = values[places[at][column]];
      Value solved = exchange(own, from, NVVM::ShflKind::idx);
      if (diagonal) {
        solved = arith::DivFOp::create(builder, loc, solved, diagonal);
        own = arith::SelectOp::create(builder, loc, isHolder, solved, own);
      }
      ++ops;
      for (int64_t later : behind(i)) {
        Value &value = values[places[later][column]];
        Value sum =
            math::FmaOp::create(builder, loc, factors[later], solved, value);
        value = later == at ? arith::SelectOp::create(builder, loc, isBehind,
                                                      sum, value)
                            : sum;
        ++ops;
      }
    }
  };
  SmallVector<SmallVector<Value>> factors = loadGroup(0);
  for (int64_t begin = 0; begin < n; begin += group) {
    SmallVector<SmallVector<Value>> next;
    if (begin + group < n) {
      next = loadGroup(begin + group);
      NVVM::SyncWarpOp::create(builder, loc, constant(-1, 32));
      ++ops;
    }
    for (int64_t i = 0; i < group; ++i)
      solve(begin + i, factors[i]);
    factors = std::move(next);
  }
}

} // namespace drawloom::nvptx
