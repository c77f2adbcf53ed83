//===- BlockDecompose.cpp - the block ops as loops over slices ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form that targets without an own lowering use: an scf.for over rows, the
// destination carried through it, and linalg on one row at a time. Each step
// reads and writes one slice of the destination, so everything bufferizes in
// place, and a row becomes vectors. Rows whose numbers follow each other are
// one slice.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Block/SliceBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::block {

namespace {

/// Nothing to compute: the destination is the result. (A slice of no elements
/// would not verify.)
bool isEmpty(Value destination) {
  return llvm::is_contained(
      cast<RankedTensorType>(destination.getType()).getShape(), 0);
}

/// The row numbers at, at + 1, ... of a tile, as long as they stay below `end`.
struct Run {
  Value at, end;
  /// The rows of the tile that have a number: from `first` up to `last`.
  Value first, last;

  Value number(SliceBuilder &s, Value row) const {
    return at ? arith::AddIOp::create(s.b, s.loc, at, row).getResult() : row;
  }
  Value count(SliceBuilder &s) const {
    return arith::SubIOp::create(s.b, s.loc, last, first);
  }
};

/// What `indices` are if a linalg op says of each that it is the one before it
/// and one, or, from some end on, no row; and if rows of both have one shape.
std::optional<Run> runOf(SliceBuilder &s, Value indices, Value from, Value to) {
  auto rowShape = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape().drop_front();
  };
  if (rowShape(from) != rowShape(to))
    return std::nullopt;
  auto numbers = indices.getDefiningOp<linalg::GenericOp>();
  if (!numbers || numbers->getNumOperands() != 1 ||
      numbers.getNumParallelLoops() != 1)
    return std::nullopt;
  auto isOutside = [&](Value value) {
    return !numbers.getRegion().isAncestor(value.getParentRegion());
  };
  auto yield = cast<linalg::YieldOp>(numbers.getBody()->getTerminator());
  auto select = yield.getOperand(0).getDefiningOp<arith::SelectOp>();
  auto inside = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                       : arith::CmpIOp();
  std::optional<int64_t> none =
      select ? getConstantIntValue(select.getFalseValue()) : std::nullopt;
  Run run;
  if (!inside || inside.getPredicate() != arith::CmpIPredicate::slt ||
      inside.getLhs() != select.getTrueValue() || !isOutside(inside.getRhs()) ||
      !none || *none >= 0)
    return std::nullopt;
  run.end = inside.getRhs();
  Value row = select.getTrueValue();
  if (auto sum = row.getDefiningOp<arith::AddIOp>()) {
    bool isFirst = isOutside(sum.getLhs());
    run.at = isFirst ? sum.getLhs() : sum.getRhs();
    row = isFirst ? sum.getRhs() : sum.getLhs();
    if (!isOutside(run.at))
      return std::nullopt;
  }
  if (!row.getDefiningOp<linalg::IndexOp>())
    return std::nullopt;
  Value zero = s.index(0), count = s.extent(indices, 0);
  auto within = [&](Value from, Value to) -> Value {
    // As a number without a sign, the difference of any two is right.
    Value rows = arith::SubIOp::create(s.b, s.loc, to, from);
    rows = arith::MinUIOp::create(s.b, s.loc, rows, count);
    Value some =
        arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::sgt, to, from);
    return arith::SelectOp::create(s.b, s.loc, some, rows, zero);
  };
  run.first = run.at ? within(run.at, zero) : zero;
  run.last = within(run.at ? run.at : zero, run.end);
  run.last = arith::MaxSIOp::create(s.b, s.loc, run.last, run.first);
  return run;
}

/// One row, from one tensor to the other.
Value copyRow(SliceBuilder &s, Value from, Value row, Value to, Value slot) {
  Value copied = linalg::CopyOp::create(s.b, s.loc, s.read(from, 0, row),
                                        s.read(to, 0, slot))
                     .getResult(0);
  return s.write(copied, to, 0, slot);
}

/// The same of so many rows, which may be none.
Value copyRows(SliceBuilder &s, Value from, Value row, Value to, Value slot,
               Value count) {
  auto part = [&](Value of, Value at) {
    SliceBuilder::Slice part = s.slice(of, 0, at);
    SmallVector<int64_t> shape(cast<RankedTensorType>(of.getType()).getShape());
    shape[0] = ShapedType::kDynamic;
    part.sizes[0] = count;
    part.type = RankedTensorType::get(shape, part.type.getElementType());
    return part;
  };
  SliceBuilder::Slice there = part(from, row), here = part(to, slot);
  Value rows = tensor::ExtractSliceOp::create(
      s.b, s.loc, there.type, from, there.offsets, there.sizes, there.strides);
  return tensor::InsertSliceOp::create(s.b, s.loc, rows, to, here.offsets,
                                       here.sizes, here.strides);
}

/// Goes through rows by their numbers: what a row that there is makes of what
/// is carried, and one that there is not.
SmallVector<Value>
byNumber(SliceBuilder &s, Value indices, Value carried,
         llvm::function_ref<Value(Value row, Value i, Value now)> present,
         llvm::function_ref<Value(Value i, Value now)> absent) {
  return s.loop(s.extent(indices, 0), carried,
                [&](Value i, ValueRange now) -> SmallVector<Value> {
                  Value row = s.rowNumber(indices, i);
                  // A branch, not a select: an absent row must not touch the
                  // table, which may be empty.
                  auto branch = scf::IfOp::create(
                      s.b, s.loc, s.isRow(row),
                      [&](OpBuilder &, Location) {
                        scf::YieldOp::create(s.b, s.loc,
                                             present(row, i, now[0]));
                      },
                      [&](OpBuilder &, Location) {
                        scf::YieldOp::create(s.b, s.loc, absent(i, now[0]));
                      });
                  return {branch.getResult(0)};
                });
}

} // namespace

FailureOr<SmallVector<Value>> GatherOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(getInit()))
    return SmallVector<Value>{getInit()};
  SliceBuilder s{builder, getLoc()};
  OpBuilder::InsertionGuard guard(builder);
  Type element = cast<RankedTensorType>(getInit().getType()).getElementType();
  auto withZeros = [&](Value tile, Value i) -> Value {
    Value zeros = s.filled(s.zero(element), s.read(tile, 0, i));
    return s.write(zeros, tile, 0, i);
  };
  auto absent = [&](Value i, ValueRange tile) -> SmallVector<Value> {
    return {withZeros(tile[0], i)};
  };
  // Nothing is asked of each row.
  if (std::optional<Run> run = runOf(s, getIndices(), getSource(), getInit())) {
    Value tile = s.loop(run->first, getInit(), absent)[0];
    tile = s.loop(run->last, s.extent(tile, 0), tile, absent)[0];
    return SmallVector<Value>{copyRows(s, getSource(),
                                       run->number(s, run->first), tile,
                                       run->first, run->count(s))};
  }
  return byNumber(
      s, getIndices(), getInit(),
      [&](Value row, Value i, Value tile) {
        return copyRow(s, getSource(), row, tile, i);
      },
      [&](Value i, Value tile) { return withZeros(tile, i); });
}

FailureOr<SmallVector<Value>>
ScatterOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(getDest()))
    return SmallVector<Value>{getDest()};
  SliceBuilder s{builder, getLoc()};
  OpBuilder::InsertionGuard guard(builder);
  auto stored = [&](Value table, Value row, Value i) -> Value {
    if (!getAccumulate())
      return copyRow(s, getRows(), i, table, row);
    Value sum = s.elementwise(
        {s.read(getRows(), 0, i)}, {s.read(table, 0, row)},
        [&](ValueRange e) -> SmallVector<Value> {
          return {arith::AddFOp::create(builder, s.loc, e[1], e[0])};
        })[0];
    return s.write(sum, table, 0, row);
  };
  std::optional<Run> run = runOf(s, getIndices(), getRows(), getDest());
  if (run && !getAccumulate())
    return SmallVector<Value>{copyRows(s, getRows(), run->first, getDest(),
                                       run->number(s, run->first),
                                       run->count(s))};
  if (run)
    return s.loop(run->first, run->last, getDest(),
                  [&](Value i, ValueRange table) -> SmallVector<Value> {
                    return {stored(table[0], run->number(s, i), i)};
                  });
  return byNumber(
      s, getIndices(), getDest(),
      [&](Value row, Value i, Value table) { return stored(table, row, i); },
      [](Value, Value table) { return table; });
}

/// The neutral element of a scan, as a scalar of type `element`.
static Value neutralElement(SliceBuilder &s, ScanKind kind, Type element) {
  if (kind == ScanKind::Add)
    return s.zero(element);
  auto floatType = dyn_cast<FloatType>(element);
  TypedAttr value;
  if (kind == ScanKind::Mul)
    value = floatType ? TypedAttr(s.b.getFloatAttr(element, 1.0))
                      : TypedAttr(s.b.getIntegerAttr(element, 1));
  else if (floatType)
    value =
        s.b.getFloatAttr(element, APFloat::getInf(floatType.getFloatSemantics(),
                                                  /*Negative=*/true));
  else
    value = s.b.getIntegerAttr(
        element, APInt::getSignedMinValue(
                     element.isIndex() ? IndexType::kInternalStorageBitWidth
                                       : element.getIntOrFloatBitWidth()));
  return arith::ConstantOp::create(s.b, s.loc, value);
}

static Value combine(OpBuilder &b, Location loc, ScanKind kind, Value running,
                     Value next) {
  bool isFloat = isa<FloatType>(running.getType());
  switch (kind) {
  case ScanKind::Add:
    return isFloat ? arith::AddFOp::create(b, loc, running, next).getResult()
                   : arith::AddIOp::create(b, loc, running, next).getResult();
  case ScanKind::Mul:
    return isFloat ? arith::MulFOp::create(b, loc, running, next).getResult()
                   : arith::MulIOp::create(b, loc, running, next).getResult();
  case ScanKind::Max:
    return isFloat
               ? arith::MaximumFOp::create(b, loc, running, next).getResult()
               : arith::MaxSIOp::create(b, loc, running, next).getResult();
  }
  llvm_unreachable("a scan adds, multiplies or takes maxima");
}

Type runningType(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(element.getContext())
             : element;
}

FailureOr<SmallVector<Value>> ScanOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(getInit()))
    return SmallVector<Value>{getInit()};
  SliceBuilder s{builder, getLoc()};
  OpBuilder::InsertionGuard guard(builder);
  int64_t dimension = getDimension();
  Type element = cast<RankedTensorType>(getInit().getType()).getElementType();
  Type running = runningType(element);
  Value neutral = neutralElement(s, getKind(), running);
  auto extended = [&](Value next) -> Value {
    return next.getType() == running
               ? next
               : arith::ExtFOp::create(builder, s.loc, running, next)
                     .getResult();
  };
  auto rounded = [&](Value value) -> Value {
    return element == running
               ? value
               : arith::TruncFOp::create(builder, s.loc, element, value)
                     .getResult();
  };
  // One element needs no slices.
  if (cast<RankedTensorType>(getInput().getType()).getDimSize(dimension) == 1)
    return s.elementwise(
        getInput(), getInit(), [&](ValueRange e) -> SmallVector<Value> {
          return {rounded(getExclusive() ? neutral
                                         : combine(builder, s.loc, getKind(),
                                                   neutral, extended(e[0])))};
        });
  Value count = s.extent(getInput(), dimension);
  Value last = arith::SubIOp::create(builder, s.loc, count, s.index(1));

  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, s.loc, getInput());
  sizes.erase(sizes.begin() + dimension);
  Value start = s.filled(
      neutral, tensor::EmptyOp::create(builder, s.loc, sizes, running));

  SmallVector<Value> results = s.loop(
      count, {start, getInit()},
      [&](Value step, ValueRange carried) -> SmallVector<Value> {
        Value at = getReverse()
                       ? arith::SubIOp::create(builder, s.loc, last, step)
                       : step;
        SmallVector<Value> slices = s.elementwise(
            s.read(getInput(), dimension, at),
            {carried[0], s.read(carried[1], dimension, at)},
            [&](ValueRange e) -> SmallVector<Value> {
              Value next =
                  combine(builder, s.loc, getKind(), e[1], extended(e[0]));
              return {next, rounded(getExclusive() ? e[1] : next)};
            });
        return {slices[0], s.write(slices[1], carried[1], dimension, at)};
      });
  return SmallVector<Value>{results[1]};
}

FailureOr<SmallVector<Value>>
SolveTriangularOp::decomposeOperation(OpBuilder &builder) {
  if (isEmpty(getRhs()))
    return SmallVector<Value>{getRhs()};
  SliceBuilder s{builder, getLoc()};
  OpBuilder::InsertionGuard guard(builder);
  Type element = cast<RankedTensorType>(getRhs().getType()).getElementType();
  Value count = s.extent(getMatrix(), 0);
  Value last = arith::SubIOp::create(builder, s.loc, count, s.index(1));
  auto rowAt = [&](Value step) -> Value {
    return solvesForward() ? step
                           : arith::SubIOp::create(builder, s.loc, last, step);
  };
  auto coefficient = [&](Value i, Value j) -> Value {
    SmallVector<Value> at = {getTranspose() ? j : i, getTranspose() ? i : j};
    return tensor::ExtractOp::create(builder, s.loc, getMatrix(), at);
  };
  // A row is summed up in a tile of its own: summed in place it would alias the
  // solved rows that it is summed from, and be copied at every step.
  return s.loop(
      count, getRhs(),
      [&](Value step, ValueRange solved) -> SmallVector<Value> {
        Value i = rowAt(step);
        Value right = s.read(solved[0], 0, i);
        Value row = linalg::CopyOp::create(builder, s.loc, right,
                                           s.emptyLike(right, element))
                        .getResult(0);
        row = s.loop(
            step, row, [&](Value before, ValueRange sum) -> SmallVector<Value> {
              Value j = rowAt(before);
              SmallVector<Value> inputs = {coefficient(i, j),
                                           s.read(solved[0], 0, j)};
              return s.elementwise(
                  inputs, sum, [&](ValueRange e) -> SmallVector<Value> {
                    Value term =
                        arith::MulFOp::create(builder, s.loc, e[0], e[1]);
                    return {arith::SubFOp::create(builder, s.loc, e[2], term)};
                  });
            })[0];
        if (!getUnit())
          row = s.elementwise(
              coefficient(i, i), row, [&](ValueRange e) -> SmallVector<Value> {
                return {arith::DivFOp::create(builder, s.loc, e[1], e[0])};
              })[0];
        return {s.write(row, solved[0], 0, i)};
      });
}

} // namespace drawloom::block
