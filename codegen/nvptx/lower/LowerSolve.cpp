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

#include "codegen/nvptx/lower/LowerSolve.h"
#include "codegen/nvptx/lower/DescribeAccess.h"
#include "codegen/nvptx/lower/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

/// Elements of the matrix that a thread loads at a time: its own of them, and
/// where it shares a column.
constexpr int64_t mostFactors = 16, mostSharedFactors = 32;

/// A triangular system, whose rows are solved in the order of their numbers or
/// in reverse, and its matrix in memory.
class System {
public:
  System(ThreadProgram &program, const Views &views, tile::SolveOp op)
      : op(op), layout(*tile::layoutOf(op.getResult().getType())),
        matrix(views.memoryOf(op.getMatrix())),
        n(cast<RankedTensorType>(op.getResult().getType()).getDimSize(0)),
        program(program), accesses(program), descriptions(program) {}

  /// Returns the row that is solved as number `i`.
  int64_t rowAt(int64_t i) { return op.getReverse() ? n - 1 - i : i; }
  /// Returns the registers that the thread which has a row has of it.
  SmallVector<int64_t> registersOfRow(int64_t row) const;
  /// Loads neighbouring elements of a row of the matrix, whose element (0, 0)
  /// is at `address`; `threads` say how far that moves with the thread number.
  SmallVector<Value> load(Value address, int64_t row, int64_t column,
                          int64_t count, ArrayRef<Digit> threads);
  /// Loads one element, the same for all threads.
  Value element(int64_t row, int64_t column) {
    return load(accesses.start(matrix), row, column, 1, {})[0];
  }
  /// Ends a group of loads. Assemblers load early whatever they may, and run
  /// out of registers: not so across the synchronisation of a warp.
  void endLoads();

  tile::SolveOp op;
  const Layout layout;
  const Memory &matrix;
  const int64_t n;

private:
  ThreadProgram &program;
  Accesses accesses;
  DescribeAccess descriptions;
};

SmallVector<int64_t> System::registersOfRow(int64_t row) const {
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < layout.registerCount(); ++i)
    if (layout.registerOffset(i, 2)[0] == row)
      places.push_back(i);
  return places;
}

SmallVector<Value> System::load(Value address, int64_t row, int64_t column,
                                int64_t count, ArrayRef<Digit> threads) {
  if (op.getTranspose())
    std::swap(row, column);
  SmallVector<Value> values;
  accesses.unpack(
      accesses.loadVector(accesses.addressAt(matrix, address, {row, column}),
                          matrix.element, count, {}, {},
                          descriptions.element(matrix, {row, column}, threads)),
      matrix.element, count, values);
  return values;
}

void System::endLoads() {
  NVVM::SyncWarpOp::create(program.builder, program.constant(-1, 32));
  program.count();
}

/// Solves a system of which each thread has whole columns. What a row is
/// multiplied with is loaded a group of rows ahead of its use.
class SolveInThreads {
public:
  SolveInThreads(ThreadProgram &program, System &system)
      : program(program), builder(program.builder), system(system),
        values(program.registers.lookup(system.op.getRhs())) {
    for (int64_t row = 0; row < system.n; ++row)
      places.push_back(system.registersOfRow(row));
  }

  Registers run();

private:
  /// Returns the end of the group of rows that begins with one.
  int64_t endOfGroup(int64_t begin) const;
  /// Loads the matrix's elements that rows need, negated.
  void loadGroup(int64_t begin, int64_t end);
  void solveRow(int64_t i);

  ThreadProgram &program;
  ImplicitLocOpBuilder &builder;
  System &system;
  Registers values;
  SmallVector<SmallVector<int64_t>> places;
  std::map<int64_t, SmallVector<Value>> factors;
};

int64_t SolveInThreads::endOfGroup(int64_t begin) const {
  int64_t end = begin, elements = 0;
  while (end < system.n && (end == begin || elements + end <= mostFactors))
    elements += end++;
  return end;
}

void SolveInThreads::loadGroup(int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < i; ++j)
      factors[i].push_back(arith::NegFOp::create(
          builder, system.element(system.rowAt(i), system.rowAt(j))));
}

void SolveInThreads::solveRow(int64_t i) {
  int64_t row = system.rowAt(i);
  for (int64_t j = 0; j < i; ++j)
    for (auto [here, there] : llvm::zip(places[row], places[system.rowAt(j)])) {
      values[here] = math::FmaOp::create(builder, factors[i][j], values[there],
                                         values[here]);
      program.count();
    }
  factors.erase(i);
  if (system.op.getUnit())
    return;
  Value diagonal = system.element(row, row);
  for (int64_t here : places[row])
    values[here] = arith::DivFOp::create(builder, values[here], diagonal);
}

Registers SolveInThreads::run() {
  int64_t begin = 0, end = endOfGroup(0);
  loadGroup(begin, end);
  while (begin < system.n) {
    int64_t next = endOfGroup(end);
    if (end < system.n) {
      loadGroup(end, next);
      system.endLoads();
    }
    for (int64_t i = begin; i < end; ++i)
      solveRow(i);
    begin = end;
    end = next;
  }
  return values;
}

/// Solves a system whose columns are shared by neighbouring lanes: row r is
/// register r / lanes of lane r % lanes among those of a column. What rows are
/// multiplied with is loaded ahead of its use, a group of rows at a time.
class SolveAcrossLanes {
public:
  SolveAcrossLanes(ThreadProgram &program, System &system);

  Registers run();

private:
  /// By row of a group and register: what the row is multiplied with in the row
  /// of the register, negated.
  using Factors = SmallVector<SmallVector<Value>>;

  void chooseGroup();
  /// Returns the registers with rows behind row `i` of the order, in some lane.
  llvm::iota_range<int64_t> behind(int64_t i) const;
  Factors loadGroup(int64_t begin);
  /// Returns the number, among the lanes of a column, of the lane that has a
  /// row; as the bits of the thread number.
  int64_t holderOf(int64_t row) const;
  void solveRow(int64_t i, ArrayRef<Value> factors);
  /// Takes a row that is solved away from the rows behind it.
  void takeAway(int64_t i, size_t column, Value solved, Value isBehind,
                ArrayRef<Value> factors);

  ThreadProgram &program;
  ImplicitLocOpBuilder &builder;
  System &system;
  Registers values;
  /// The bits of the thread number that count rows.
  ThreadBits bits;
  int64_t lanes = 1, depth = 0;
  /// The lane's number in its column, and the other bits of the thread number.
  Value lane, others;
  /// Where the thread's own rows, or columns, of the matrix begin.
  Value address;
  SmallVector<Digit> threads;
  /// Rows of a group, and whether their elements are loaded as vectors.
  int64_t group = 4;
  bool vectors = false;
  SmallVector<SmallVector<int64_t>> places;
};

SolveAcrossLanes::SolveAcrossLanes(ThreadProgram &program, System &system)
    : program(program), builder(program.builder), system(system),
      values(program.registers.lookup(system.op.getRhs())),
      threads(DescribeAccess::threadDigits(system.layout)) {
  const Memory &matrix = system.matrix;
  int64_t along = system.op.getTranspose() ? 1 : 0, rowBits = 0;
  ThreadBits elements;
  for (auto [bit, digit] : llvm::enumerate(system.layout.lanes))
    if (digit.dim == 0) {
      bits.push_back({bit, digit.stride});
      elements.push_back({bit, digit.stride * matrix.strides[along]});
      rowBits |= int64_t(1) << bit;
      lanes *= 2;
    }
  depth = system.n / lanes;
  lane = program.valueOfBits(bits);
  others = arith::AndIOp::create(builder, program.thread,
                                 program.constant(31 & ~rowBits, 32));
  Accesses accesses(program);
  Value own = program.offsetOfBits(elements);
  address = accesses.addElements(accesses.start(matrix), own, matrix.element);
  for (Digit &digit : threads)
    digit = digit.dim == 0 ? Digit{along, digit.stride} : Digit();
  for (int64_t at = 0; at < depth; ++at)
    places.push_back(system.registersOfRow(at * lanes));
  chooseGroup();
}

void SolveAcrossLanes::chooseGroup() {
  const Memory &matrix = system.matrix;
  while (group > 1 &&
         (group * depth > mostSharedFactors || system.n % group != 0))
    group /= 2;
  // Rows of a group are neighbours in memory where the matrix is not
  // transposed.
  vectors = !system.op.getTranspose() && matrix.strides[1] == 1 &&
            matrix.strides[0] % group == 0 &&
            matrix.alignment % (group * elementBytes(matrix.element)) == 0;
}

llvm::iota_range<int64_t> SolveAcrossLanes::behind(int64_t i) const {
  int64_t at = system.rowAt(i) / lanes;
  return system.op.getReverse() ? llvm::seq<int64_t>(0, at + 1)
                                : llvm::seq<int64_t>(at, depth);
}

SolveAcrossLanes::Factors SolveAcrossLanes::loadGroup(int64_t begin) {
  Factors factors(group, SmallVector<Value>(depth));
  for (int64_t at : behind(begin)) {
    SmallVector<Value> neighbours;
    if (vectors)
      neighbours = system.load(
          address, at * lanes,
          std::min(system.rowAt(begin), system.rowAt(begin + group - 1)), group,
          threads);
    for (int64_t i = begin; i < begin + group; ++i) {
      int64_t row = system.rowAt(i);
      if (!llvm::is_contained(behind(i), at))
        continue;
      Value factor = vectors
                         ? neighbours[row % group]
                         : system.load(address, at * lanes, row, 1, threads)[0];
      factors[i - begin][at] = arith::NegFOp::create(builder, factor);
    }
  }
  return factors;
}

int64_t SolveAcrossLanes::holderOf(int64_t row) const {
  int64_t holder = 0;
  for (auto [bit, stride] : bits)
    if (row % lanes & stride)
      holder |= int64_t(1) << bit;
  return holder;
}

void SolveAcrossLanes::solveRow(int64_t i, ArrayRef<Value> factors) {
  int64_t row = system.rowAt(i);
  Value from = arith::OrIOp::create(builder, others,
                                    program.constant(holderOf(row), 32));
  // In the register that the row itself is in, some lanes have rows before it,
  // which are solved.
  Value isBehind =
      arith::CmpIOp::create(builder,
                            system.op.getReverse() ? arith::CmpIPredicate::ult
                                                   : arith::CmpIPredicate::ugt,
                            lane, program.constant(row % lanes, 32));
  Value diagonal, isHolder;
  if (!system.op.getUnit()) {
    diagonal = system.element(row, row);
    isHolder = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane,
                                     program.constant(row % lanes, 32));
  }
  ArrayRef<int64_t> own = places[row / lanes];
  for (size_t column = 0; column < own.size(); ++column) {
    Value &value = values[own[column]];
    Value solved = exchange(program, value, from, NVVM::ShflKind::idx);
    if (diagonal) {
      solved = arith::DivFOp::create(builder, solved, diagonal);
      value = arith::SelectOp::create(builder, isHolder, solved, value);
    }
    program.count();
    takeAway(i, column, solved, isBehind, factors);
  }
}

void SolveAcrossLanes::takeAway(int64_t i, size_t column, Value solved,
                                Value isBehind, ArrayRef<Value> factors) {
  for (int64_t later : behind(i)) {
    Value &value = values[places[later][column]];
    Value sum = math::FmaOp::create(builder, factors[later], solved, value);
    value = later == system.rowAt(i) / lanes
                ? arith::SelectOp::create(builder, isBehind, sum, value)
                : sum;
    program.count();
  }
}

Registers SolveAcrossLanes::run() {
  Factors factors = loadGroup(0);
  for (int64_t begin = 0; begin < system.n; begin += group) {
    Factors next;
    if (begin + group < system.n) {
      next = loadGroup(begin + group);
      system.endLoads();
    }
    for (int64_t i = 0; i < group; ++i)
      solveRow(begin + i, factors[i]);
    factors = std::move(next);
  }
  return values;
}

} // namespace

Registers solveTriangular(ThreadProgram &program, const Views &views,
                          tile::SolveOp op) {
  System system(program, views, op);
  bool isShared = llvm::any_of(
      system.layout.lanes, [](const Digit &digit) { return digit.dim == 0; });
  return isShared ? SolveAcrossLanes(program, system).run()
                  : SolveInThreads(program, system).run();
}

} // namespace drawloom::nvptx
