//===- LowerOuterProducts.cpp - products by fused multiply-adds -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/DescribeAccess.h"
#include "codegen/nvptx/lower/LowerDots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {
namespace {

/// Multiply-adds of a thread that each turn of a loop over them has, if the
/// loop is long enough.
constexpr int64_t fewestProducts = 128;

/// One contraction by fused multiply-adds: sums of products of a column and a
/// row, step by step in order.
class OuterProducts {
public:
  OuterProducts(ThreadProgram &program, const Views &views, tile::DotOp op)
      : program(program), builder(program.builder), accesses(program),
        descriptions(program), op(op),
        sums(*tile::layoutOf(op.getResult().getType())),
        a(views.memoryOf(op.getA())), b(views.memoryOf(op.getB())),
        element(a.element), bytes(elementBytes(element)),
        steps(cast<MemRefType>(op.getA().getType()).getDimSize(1)) {
    for (int64_t i = 0; i < sums.registerCount(); ++i) {
      SmallVector<int64_t> at = sums.registerOffset(i, 2);
      rows.insert(at[0]);
      columns.insert(at[1]);
    }
  }

  Registers run();

private:
  /// Returns where the part of an operand begins that a thread reads.
  Value partOf(const Memory &memory, int64_t dim, int64_t along);
  /// Chooses as many steps at once as a vector of the left operand holds, and
  /// as many columns as one of the right operand.
  void chooseWidths();
  /// Returns whether each vector of so many columns is aligned.
  bool fitsRows(int64_t width) const;
  /// Returns the digits of the thread number that count along a dimension.
  SmallVector<Digit> digitsOf(int64_t dim) const;
  /// Returns what a turn of the loop adds: columns of the left operand, rows of
  /// the right one.
  Moving moving(const Memory &memory, int64_t dim) const {
    int64_t stride = memory.strides[dim] * bytes;
    return Moving{turns * unroll * stride, (steps - turns * unroll) * stride};
  }
  /// Loads, by row, the elements of `unroll` steps.
  std::map<int64_t, SmallVector<Value>> loadLeft(Value address, int64_t step);
  /// Loads, by column, the elements of one step.
  std::map<int64_t, Value> loadRight(Value address, int64_t step);
  /// Multiplies the steps of one turn of the loop.
  Registers multiply(Value aStep, Value bStep, Registers result);

  ThreadProgram &program;
  ImplicitLocOpBuilder &builder;
  Accesses accesses;
  DescribeAccess descriptions;
  tile::DotOp op;
  Layout sums;
  const Memory &a, &b;
  Type element;
  int64_t bytes, steps;
  llvm::SmallSetVector<int64_t, 16> rows, columns;
  /// Steps that one access of the left operand reads, how often a turn of the
  /// loop does so, and columns that one access of the right operand reads.
  int64_t unroll = 4, turns = 1, width = 1;
};

Value OuterProducts::partOf(const Memory &memory, int64_t dim, int64_t along) {
  Value start = accesses.start(memory);
  Value own = program.offsetOfBits(
      ThreadProgram::bitsAlong(sums, dim, memory.strides[along]));
  return accesses.addElements(start, own, memory.element);
}

bool OuterProducts::fitsRows(int64_t width) const {
  if (!llvm::isPowerOf2_64(width) || sums.contiguousAlong(1) % width)
    return false;
  int64_t alignment = std::gcd(b.alignment, b.strides[0] * bytes);
  for (ArrayRef<Digit> digits :
       {ArrayRef(sums.registers), ArrayRef(sums.lanes), ArrayRef(sums.warps)})
    for (const Digit &digit : digits)
      if (digit.dim == 1 && !digit.replicated() && digit.stride >= width)
        alignment = std::gcd(alignment, digit.stride * bytes);
  return alignment % (width * bytes) == 0;
}

void OuterProducts::chooseWidths() {
  int64_t most = 16 / bytes;
  while (unroll > 1 &&
         (unroll > most || (a.strides[0] * bytes) % (unroll * bytes) != 0 ||
          a.alignment % (unroll * bytes) != 0 || steps % unroll != 0))
    unroll /= 2;
  // So many of these in each turn of the loop, lest its end takes more than a
  // twentieth.
  while (turns * unroll * sums.registerCount() < fewestProducts &&
         steps % (2 * turns * unroll) == 0)
    turns *= 2;
  width = std::min(sums.contiguousAlong(1), most);
  while (width > 1 && !fitsRows(width))
    --width;
}

SmallVector<Digit> OuterProducts::digitsOf(int64_t dim) const {
  SmallVector<Digit> digits = DescribeAccess::threadDigits(sums);
  for (Digit &digit : digits)
    if (digit.dim != dim)
      digit = Digit();
  return digits;
}

std::map<int64_t, SmallVector<Value>> OuterProducts::loadLeft(Value address,
                                                              int64_t step) {
  std::map<int64_t, SmallVector<Value>> left;
  for (int64_t row : rows)
    accesses.unpack(
        accesses.loadVector(
            accesses.addBytes(address, (row * a.strides[0] + step) * bytes),
            element, unroll, {}, {},
            descriptions.element(a, {row, step}, digitsOf(0), moving(a, 1))),
        element, unroll, left[row]);
  return left;
}

std::map<int64_t, Value> OuterProducts::loadRight(Value address, int64_t step) {
  std::map<int64_t, Value> right;
  for (int64_t column : columns) {
    if (column % width != 0)
      continue;
    SmallVector<Value> values;
    accesses.unpack(
        accesses.loadVector(
            accesses.addBytes(address, (step * b.strides[0] + column) * bytes),
            element, width, {}, {},
            descriptions.element(b, {step, column}, digitsOf(1), moving(b, 0))),
        element, width, values);
    for (auto [i, value] : llvm::enumerate(values))
      right[column + i] = value;
  }
  return right;
}

Registers OuterProducts::multiply(Value aStep, Value bStep, Registers result) {
  Type sum = getElementTypeOrSelf(op.getResult());
  auto widened = [&](Value value) -> Value {
    if (value.getType() == sum)
      return value;
    return arith::ExtFOp::create(builder, sum, value);
  };
  std::map<int64_t, SmallVector<Value>> left;
  for (int64_t k = 0; k < turns * unroll; ++k) {
    if (k % unroll == 0)
      left = loadLeft(aStep, k);
    std::map<int64_t, Value> right = loadRight(bStep, k);
    for (int64_t i = 0; i < sums.registerCount(); ++i) {
      SmallVector<int64_t> at = sums.registerOffset(i, 2);
      result[i] = math::FmaOp::create(builder, widened(left[at[0]][k % unroll]),
                                      widened(right[at[1]]), result[i]);
      program.count();
    }
  }
  return result;
}

Registers OuterProducts::run() {
  Value aAddress = partOf(a, 0, 0), bAddress = partOf(b, 1, 1);
  chooseWidths();
  const Registers start = program.registers.lookup(op.getAccumulator());
  auto loop =
      scf::ForOp::create(builder, program.index(0), program.index(steps),
                         program.index(turns * unroll), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value step = program.toI64(loop.getInductionVar());
  Value aStep = accesses.addElements(aAddress, step, element);
  Value bStep = accesses.addElements(
      bAddress,
      arith::MulIOp::create(builder, step, program.constant(b.strides[0], 64)),
      element);
  scf::YieldOp::create(
      builder, multiply(aStep, bStep, Registers(loop.getRegionIterArgs())));
  return Registers(loop.getResults());
}

} // namespace

Registers multiplyByFma(ThreadProgram &program, const Views &views,
                        tile::DotOp op) {
  return OuterProducts(program, views, op).run();
}

} // namespace drawloom::nvptx
