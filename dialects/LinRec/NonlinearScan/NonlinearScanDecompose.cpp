//===- NonlinearScanDecompose.cpp - recurrent cells as block programs -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is a number of channels of one sequence. It carries their states from
// token to token; the cell is one linalg.generic over the channels. How wide a
// block is changes no bit, since channels do not meet.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/SliceBuilder.h"
#include "dialects/Interfaces/MachineFacts.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/LinRec/LinRec.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;

namespace drawloom::linrec {

using Values = SmallVector<Value>;

namespace {

/// The channels of a block. Some vectors have to be side by side, since a
/// cell's ops wait for each other. A CPU reads rows without gaps as fast as
/// memory gives them: it has wide blocks, but two for a sequence where that
/// leaves the vectors. A GPU has many.
int64_t widthOf(int64_t channels, const MachineFacts &machine) {
  constexpr int64_t least = 64, most = 256;
  if (machine.lockstep)
    return std::min(channels, least);
  return std::min(
      channels,
      std::clamp<int64_t>(llvm::alignTo(channels / 2, least), least, most));
}

/// Writes the block programs of one op.
class CellLoop {
public:
  CellLoop(NonlinearScanOp op, OpBuilder &b)
      : op(op), b(b), loc(op.getLoc()), slices{b, loc} {}
  FailureOr<Values> build();

private:
  LogicalResult checkExtents();
  OpFoldResult sequences();
  OpFoldResult tokens();
  /// The blocks of `count` times `width` channels from `first` on, on top of
  /// what is in `results` already.
  Values overChannels(ValueRange results, int64_t first, int64_t count,
                      int64_t width);
  Values overTokens(ValueRange outputs, ValueRange states, Value sequence,
                    Value channel, ValueRange parameters, int64_t width);
  /// What one token does: the new states and the outputs of some channels.
  Values cell(ValueRange inputs, ValueRange parameters, ValueRange states,
              ValueRange outputs);
  /// Elements [sequence, token, channel ...] of a tensor, without the
  /// dimensions of one element.
  Value read(Value tensor, ArrayRef<OpFoldResult> offsets, int64_t width);

  NonlinearScanOp op;
  OpBuilder &b;
  Location loc;
  block::SliceBuilder slices;
};

} // namespace

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

OpFoldResult CellLoop::sequences() {
  return tensor::getMixedSize(b, loc, op.getInitial().front(), 0);
}

OpFoldResult CellLoop::tokens() {
  for (Value value : op.getInputs())
    if (!typeOf(value).isDynamicDim(1))
      return b.getIndexAttr(typeOf(value).getDimSize(1));
  for (Value value : op.getOutputs())
    if (!typeOf(value).isDynamicDim(1))
      return b.getIndexAttr(typeOf(value).getDimSize(1));
  return tensor::getMixedSize(b, loc, op.getInputs().front(), 1);
}

LogicalResult CellLoop::checkExtents() {
  RankedTensorType state = typeOf(op.getInitial().front());
  bool isOpen = false;
  for (Value value : op->getOperands())
    isOpen = isOpen || !typeOf(value).hasStaticShape();
  if (!isOpen)
    return success();
  if (op.getInputs().empty())
    return op.emitOpError("has no inputs, so that a call does not say how many "
                          "tokens there are");
  Values others(op.getInitial());
  llvm::append_range(others, op.getInputs());
  llvm::append_range(others, op.getOutputs());
  llvm::append_range(others, op.getFinals());
  for (Value value : others)
    if (failed(
            assertExtent(b, op, value, 0, state, [&] { return sequences(); })))
      return failure();
  RankedTensorType input = typeOf(op.getInputs().front());
  others.assign(op.getInputs().begin(), op.getInputs().end());
  llvm::append_range(others, op.getOutputs());
  for (Value value : others)
    if (failed(assertExtent(b, op, value, 1, input, [&] {
          return tensor::getMixedSize(b, loc, op.getInputs().front(), 1);
        })))
      return failure();
  return success();
}

Value CellLoop::read(Value tensor, ArrayRef<OpFoldResult> offsets,
                     int64_t width) {
  SmallVector<OpFoldResult> ones(offsets.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = ones;
  sizes.back() = b.getIndexAttr(width);
  auto type = RankedTensorType::get(width, typeOf(tensor).getElementType());
  return tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets, sizes,
                                        ones);
}

Values CellLoop::cell(ValueRange inputs, ValueRange parameters,
                      ValueRange states, ValueRange outputs) {
  Values ins(inputs), outs(states);
  llvm::append_range(ins, parameters);
  llvm::append_range(outs, outputs);
  SmallVector<AffineMap> maps(ins.size() + outs.size(),
                              b.getMultiDimIdentityMap(1));
  SmallVector<Type> types(ValueRange(outs).getTypes());
  auto generic = linalg::GenericOp::create(
      b, loc, types, ins, outs, maps, {utils::IteratorType::parallel},
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        ScalarBuilder s(inner, at);
        ValueRange given = elements.take_front(ins.size());
        ValueRange kept = elements.drop_front(ins.size());
        IRMapping mapping;
        mapping.map(op.stateArguments(), kept.take_front(states.size()));
        for (auto [argument, element] : llvm::zip_equal(
                 op.inputArguments(), given.take_front(inputs.size())))
          mapping.map(argument, s.convert(element, op.cellType()));
        mapping.map(op.parameterArguments(), given.drop_front(inputs.size()));
        for (Operation &body : op.getCell().front().without_terminator())
          inner.clone(body, mapping);
        Values yielded;
        for (auto [value, element] : llvm::zip_equal(
                 op.getCell().front().getTerminator()->getOperands(), kept))
          yielded.push_back(
              s.convert(mapping.lookup(value), element.getType()));
        linalg::YieldOp::create(inner, at, yielded);
      });
  return generic.getResults();
}

Values CellLoop::overTokens(ValueRange outputs, ValueRange states,
                            Value sequence, Value channel,
                            ValueRange parameters, int64_t width) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Value count = getValueOrCreateConstantIndexOp(b, loc, tokens());
  Values carried(outputs);
  llvm::append_range(carried, states);
  return slices.loop(count, carried, [&](Value step, ValueRange now) -> Values {
    Value token = step;
    if (op.getReverse()) {
      Value last = arith::SubIOp::create(b, loc, count, slices.index(1));
      token = arith::SubIOp::create(b, loc, last, step);
    }
    Values inputs, rows;
    for (Value input : op.getInputs())
      inputs.push_back(read(input, {sequence, token, channel}, width));
    for (Value output : now.take_front(outputs.size()))
      rows.push_back(read(output, {token, zero}, width));
    Values made =
        cell(inputs, parameters, now.drop_front(outputs.size()), rows);
    Values next;
    for (auto [row, output] :
         llvm::zip_equal(ArrayRef<Value>(made).drop_front(states.size()),
                         now.take_front(outputs.size())))
      next.push_back(tensor::InsertSliceOp::create(
          b, loc, row, output, ArrayRef<OpFoldResult>{token, zero},
          ArrayRef<OpFoldResult>{one, b.getIndexAttr(width)},
          ArrayRef<OpFoldResult>{one, one}));
    next.append(made.begin(), made.begin() + states.size());
    return next;
  });
}

Values CellLoop::overChannels(ValueRange results, int64_t first, int64_t count,
                              int64_t width) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  OpFoldResult size = b.getIndexAttr(width), length = tokens();
  auto forall =
      block::blocksOf(b, loc, {sequences(), b.getIndexAttr(count)}, results);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Value sequence = forall.getInductionVar(0);
  AffineExpr number = b.getAffineDimExpr(0);
  Value channel = affine::makeComposedAffineApply(
      b, loc, AffineMap::get(1, 0, number * width + first),
      {OpFoldResult(forall.getInductionVar(1))});
  Values parameters, states, outputs;
  for (Value parameter : op.getParameters())
    parameters.push_back(read(parameter, {channel}, width));
  unsigned outputCount = op.getOutputs().size();
  auto outs = forall.getRegionIterArgs();
  SmallVector<OpFoldResult> ones(3, one);
  auto places = [&](bool perToken) {
    SmallVector<OpFoldResult> offsets = {sequence, channel},
                              sizes = {one, size};
    if (perToken) {
      offsets.insert(offsets.begin() + 1, zero);
      sizes.insert(sizes.begin() + 1, length);
    }
    return std::pair(offsets, sizes);
  };
  for (unsigned i = 0; i < outputCount; ++i) {
    RankedTensorType whole = typeOf(outs[i]);
    auto type = RankedTensorType::get({whole.getDimSize(1), width},
                                      whole.getElementType());
    auto [offsets, sizes] = places(true);
    outputs.push_back(tensor::ExtractSliceOp::create(b, loc, type, outs[i],
                                                     offsets, sizes, ones));
  }
  for (Value initial : op.getInitial())
    states.push_back(read(initial, {sequence, channel}, width));
  Values made =
      overTokens(outputs, states, sequence, channel, parameters, width);
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [i, value] : llvm::enumerate(made)) {
    auto [offsets, sizes] = places(i < outputCount);
    tensor::ParallelInsertSliceOp::create(
        b, loc, value, outs[i], offsets, sizes,
        ArrayRef<OpFoldResult>(ones).take_front(offsets.size()));
  }
  return forall.getResults();
}

FailureOr<Values> CellLoop::build() {
  if (failed(checkExtents()))
    return failure();
  Values results;
  bool isEmpty = isZeroInteger(sequences()) || isZeroInteger(tokens());
  for (Value result : op.getOutputs())
    results.push_back(tensor::EmptyOp::create(
        b, loc,
        {sequences(), tokens(), b.getIndexAttr(typeOf(result).getDimSize(2))},
        typeOf(result).getElementType()));
  if (isEmpty) {
    // States stay what they are.
    llvm::append_range(results, op.getInitial());
    return results;
  }
  for (Value initial : op.getInitial())
    results.push_back(
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, initial),
                                typeOf(initial).getElementType()));
  int64_t channels = typeOf(op.getInitial().front()).getDimSize(1);
  int64_t width = widthOf(channels, machineFactsOf(op));
  int64_t full = channels / width;
  results = overChannels(results, 0, full, width);
  if (int64_t rest = channels - full * width)
    results = overChannels(results, full * width, 1, rest);
  return results;
}

FailureOr<Values> NonlinearScanOp::decomposeOperation(OpBuilder &b) {
  if (getNewton() || getSegments().value_or(1) > 1)
    return emitOpError("is cut into segments or solved by Newton's iteration; "
                       "the pass 'linrec-expand-scans' writes these out");
  return CellLoop(*this, b).build();
}

} // namespace drawloom::linrec
