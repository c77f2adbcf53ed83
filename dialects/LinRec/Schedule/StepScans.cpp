//===- StepScans.cpp - ops that are a linrec.scan of other shapes ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Recurrence.h"
#include "dialects/LinRec/Chunk/Tiles.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// `x` with a dimension of one entry at `at`.
Value withUnit(OpBuilder &b, Location loc, Value x, int64_t at) {
  RankedTensorType type = Recurrence::type(x);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + at, 1);
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < type.getRank(); ++i)
    groups.push_back({i < at ? i : i + 1});
  // It joins its neighbour in front.
  groups[at - 1].push_back(at);
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), x, groups);
}

/// `x` with its last two or three dimensions as `type` has them joined.
Value joined(OpBuilder &b, Location loc, Value x,
             ArrayRef<ReassociationIndices> groups) {
  return tensor::CollapseShapeOp::create(b, loc, x, groups);
}

} // namespace

FailureOr<SmallVector<Value>> StepOp::decomposeOperation(OpBuilder &b) {
  Recurrence form(*this);
  Location loc = getLoc();
  SmallVector<Value> x;
  for (auto [operand, perToken] : form.perToken())
    x.push_back(operand && perToken ? withUnit(b, loc, operand, 1) : operand);
  auto scan = ScanOp::create(
      b, loc, x[2].getType(), getNext().getType(), x[0], x[1], x[2], x[3], x[4],
      x[5], x[6], x[7], x[8], x[9], /*starts=*/Value(), getScaleAttr(),
      getDecayAlongValuesAttr(), getEraseBeforeDecayAttr(),
      /*decay_bound=*/FloatAttr(), /*chunk=*/b.getI64IntegerAttr(1),
      /*segments=*/IntegerAttr(), /*value_blocks=*/IntegerAttr(),
      /*checkpoint_interval=*/IntegerAttr(), /*steps_per_token=*/IntegerAttr());
  Value o = joined(b, loc, scan.getO(), {{0, 1}, {2}, {3}});
  return SmallVector<Value>{o, scan.getFinal()};
}

namespace {

/// Channels that a head takes: as many as a state of modest size has room for,
/// so that there are heads to compute side by side.
int64_t channelsOfHead(int64_t channels) {
  constexpr int64_t most = 64;
  for (int64_t size = most; size > most / 4; --size)
    if (channels % size == 0)
      return size;
  return channels;
}

Value ones(OpBuilder &b, Location loc, Value like, FloatType element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, like);
  sizes.resize(2);
  sizes.append(2, b.getIndexAttr(1));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  // A fill belongs to the block programs that read it, as long as they know how
  // much.
  if (!Recurrence::type(empty).hasStaticShape())
    return Tiles(b, loc, computeType(element))
        .generic({}, {{empty, "btuv"}},
                 [&](ScalarBuilder &s, ValueRange) -> Tiles::Values {
                   return {arith::ConstantOp::create(
                       s.builder, s.loc, b.getFloatAttr(element, 1.0))};
                 })[0];
  Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 1.0));
  return linalg::FillOp::create(b, loc, one, empty).getResult(0);
}

} // namespace

// Channels are the values of heads; without rates, keys have one element, 1.
FailureOr<SmallVector<Value>> EwScanOp::decomposeOperation(OpBuilder &b) {
  Location loc = getLoc();
  RankedTensorType x = Recurrence::type(getX());
  int64_t channels = x.getDimSize(2), size = channelsOfHead(channels);
  int64_t heads = channels / size;
  auto split = [&](Value value, ArrayRef<ReassociationIndices> groups,
                   ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value));
    return tensor::ExpandShapeOp::create(b, loc, type, value, groups);
  };
  auto perToken = [&](Value value) {
    return split(value, {{0}, {1}, {2, 3}},
                 {x.getDimSize(0), x.getDimSize(1), heads, size});
  };
  Value v = perToken(getX()), decay = perToken(getDecay());
  Value q, k, rates, initial = getInitial();
  int64_t sequences =
      cast<RankedTensorType>(getFinal().getType()).getDimSize(0);
  int64_t numbers = 1;
  if (getRates()) {
    numbers = Recurrence::type(getRates()).getDimSize(1);
    q = withUnit(b, loc, getRead(), 2), k = withUnit(b, loc, getWrite(), 2);
    rates = split(getRates(), {{0, 1}, {2}}, {heads, size, numbers});
    rates = transposed(b, loc, rates, {0, 2, 1});
    if (initial)
      initial = transposed(
          b, loc,
          split(initial, {{0}, {1, 2}, {3}}, {sequences, heads, size, numbers}),
          {0, 1, 3, 2});
  } else {
    q = k = ones(b, loc, getX(), cast<FloatType>(x.getElementType()));
    if (initial)
      initial = split(initial, {{0}, {1, 2, 3}}, {sequences, heads, 1, size});
  }
  auto state =
      RankedTensorType::get({sequences, heads, numbers, size},
                            getElementTypeOrSelf(getFinal().getType()));
  auto scan = ScanOp::create(
      b, loc, v.getType(), state, q, k, v, decay, rates, /*beta=*/Value(),
      /*erase=*/Value(), /*lowrank=*/Value(), /*bonus=*/Value(), initial,
      getStarts(), /*scale=*/b.getF64FloatAttr(1.0),
      /*decay_along_values=*/b.getUnitAttr(),
      /*erase_before_decay=*/UnitAttr(), /*decay_bound=*/FloatAttr(),
      /*chunk=*/IntegerAttr(), /*segments=*/IntegerAttr(),
      /*value_blocks=*/IntegerAttr(), /*checkpoint_interval=*/IntegerAttr(),
      /*steps_per_token=*/IntegerAttr());
  Value y = joined(b, loc, scan.getO(), {{0}, {1}, {2, 3}});
  Value final = scan.getFinal();
  if (getRates())
    final = joined(b, loc, transposed(b, loc, final, {0, 1, 3, 2}),
                   {{0}, {1, 2}, {3}});
  else
    final = joined(b, loc, final, {{0}, {1, 2, 3}});
  return SmallVector<Value>{y, final};
}

} // namespace drawloom::linrec
