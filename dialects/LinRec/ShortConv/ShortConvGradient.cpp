//===- ShortConvGradient.cpp - the gradient of short convolutions ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/ShortConv/ShortConvParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

using namespace shortconv;

static Value sigmoid(ScalarBuilder &s, Value z) {
  return s.div(1.0, s.add(s.exp(s.neg(z)), 1.0));
}

namespace {

/// The gradient, step by step.
struct ConvGradient {
  ConvGradient(OpBuilder &b, ShortConvBwdOp op)
      : b(b), conv(b, op, /*flat=*/true),
        dY(joined(b, conv.loc, op.getDY(), 2, true)),
        channels(conv.channels[0]) {
    if (op.getDFinal())
      dFinal = joined(b, conv.loc, op.getDFinal(), 2, true);
    packed = placesOfTokens(b, conv);
  }

  Value empty(int64_t rows) {
    return tensor::EmptyOp::create(b, conv.loc, {rows, channels}, conv.wide);
  }

  /// dz and, where they are wanted, sums over tokens: of dz times each tap, and
  /// of dz. In blocks of rows, which are added up in order.
  void throughActivation(bool ofWeight, bool ofBias) {
    SmallVector<Made> results;
    if (conv.silu)
      results.push_back({emptyTokens(b, conv, conv.wide), false});
    for (int64_t i = 0; i < (ofWeight ? conv.width : 0) + ofBias; ++i)
      results.push_back({empty(sumsOf(b, conv)), true});
    if (results.empty())
      return;
    Values found = overParts(
        b, conv.loc, conv.wide, conv.rows, channels, results,
        [&](Part &part, ValueRange sums) -> Values {
          Value rows = part.rowNumbers();
          Places places = placesIn(part, conv, packed, rows);
          Taps taps;
          if (conv.silu || ofWeight)
            taps = tapsOf(part, conv, places, rows);
          Value cotangent = part.own(dY), d = cotangent;
          Values out;
          if (conv.silu) {
            Inputs inputs(part);
            int given = inputs.tile(cotangent);
            Sum sum(inputs, part, conv, taps);
            d = part.map(inputs.all, conv.wide,
                         [&](ScalarBuilder &s, ValueRange e) -> Value {
                           Value z = sum(s, e), share = sigmoid(s, z);
                           Value slope =
                               s.add(s.mul(z, s.sub(1.0, share)), 1.0);
                           return s.mul(s.widen(e[given]), s.mul(share, slope));
                         });
            out.push_back(d);
          }
          for (int64_t j = 0; j < (ofWeight ? conv.width : 0); ++j) {
            SmallVector<Indexed> inputs = {{d, "tu"}, {taps.x[j], "tu"}};
            if (taps.initial[j])
              inputs.push_back({taps.initial[j], "tu"});
            out.push_back(part.t.generic(
                inputs, {{sums[j], "u"}},
                [&](ScalarBuilder &s, ValueRange e) -> Values {
                  Value x = s.widen(e[1]);
                  if (taps.initial[j])
                    x = s.add(x, s.widen(e[2]));
                  return {s.add(e.back(), s.mul(s.widen(e[0]), x))};
                })[0]);
          }
          if (ofBias)
            out.push_back(
                part.t.generic({{d, "tu"}}, {{sums.back(), "u"}},
                               [](ScalarBuilder &s, ValueRange e) -> Values {
                                 return {s.add(e[1], s.widen(e[0]))};
                               })[0]);
          return out;
        });
    size_t next = 0;
    if (conv.silu)
      dZ = found[next++];
    for (; next < found.size(); ++next)
      sums.push_back(sumOfBlocks(b, conv.loc, found[next]));
  }

  Value ofWeight(RankedTensorType type) {
    Value all = empty(conv.width);
    for (int64_t j = 0; j < conv.width; ++j)
      all = tensor::InsertSliceOp::create(
          b, conv.loc, sums[j], all,
          ArrayRef<OpFoldResult>{b.getIndexAttr(conv.width - 1 - j),
                                 b.getIndexAttr(0)},
          ArrayRef<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(channels)},
          ArrayRef<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(1)});
    all = transposed(b, conv.loc, all, {1, 0});
    return finished(split(b, conv.loc, all, sizesOf(type),
                          /*leading=*/type.getRank() - 1, false),
                    type);
  }

  Value ofBias(RankedTensorType type) {
    return finished(split(b, conv.loc, sums.back(), sizesOf(type), 0, true),
                    type);
  }

  /// sum_j weight[W - 1 - j] dz_{t+j}, and what of `d_final` is the token's.
  Value ofTokens(RankedTensorType type) {
    Value of = dZ ? dZ : dY;
    Value found = overParts(
        b, conv.loc, conv.wide, conv.rows, channels,
        {{emptyTokens(b, conv, type.getElementType()), false}},
        [&](Part &part, ValueRange) -> Values {
          Value rows = part.rowNumbers();
          Places places = placesIn(part, conv, packed, rows);
          Inputs inputs(part);
          SmallVector<std::pair<int, int>> pairs;
          for (int64_t j = 0; j < conv.width; ++j) {
            Value later =
                part.indices({{rows, "t"}, {places.left, "t"}},
                             [&](ScalarBuilder &s, ValueRange e) -> Value {
                               Value there = both(s, isAtLeast(s, e[0], 0),
                                                  isAtLeast(s, e[1], j));
                               return orNone(s, there, plus(s, e[0], j));
                             });
            int d = inputs.tile(part.gathered(of, later));
            pairs.push_back(
                {d, inputs.row(part.row(conv.weight, conv.width - 1 - j))});
          }
          Value kept;
          if (dFinal)
            kept = part.indices(
                {{rows, "t"}, {places.left, "t"}, {places.sequence, "t"}},
                [&](ScalarBuilder &s, ValueRange e) -> Value {
                  Value entry = minus(s, constant(s, conv.width - 2), e[1]);
                  Value there =
                      both(s, isAtLeast(s, e[0], 0), isAtLeast(s, entry, 0));
                  Value row = plus(s, times(s, e[2], conv.width - 1), entry);
                  return orNone(s, there, row);
                });
          return {weighted(part, inputs, pairs, kept, type.getElementType())};
        })[0];
    return split(b, conv.loc, found, conv.sizes, 2, true);
  }

  /// The same for the tokens in front: entry i meets token i - m of its
  /// sequence by column m of the weights.
  Value ofStates(RankedTensorType type) {
    Value of = dZ ? dZ : dY;
    Value found = overParts(
        b, conv.loc, conv.wide, conv.stateRows(b), channels,
        {{emptyStates(b, conv, type.getElementType()), false}},
        [&](Part &part, ValueRange) -> Values {
          StatePlaces own = statesIn(part, conv);
          Inputs inputs(part);
          SmallVector<std::pair<int, int>> pairs;
          for (int64_t m = 0; m < conv.width - 1; ++m) {
            Value tokens = part.indices(
                {{own.entry, "t"}, {own.first, "t"}, {own.length, "t"}},
                [&](ScalarBuilder &s, ValueRange e) -> Value {
                  Value token = plus(s, e[0], -m);
                  Value there =
                      both(s, isAtLeast(s, token, 0), isBelow(s, token, e[2]));
                  return orNone(s, there, plus(s, e[1], token));
                });
            int d = inputs.tile(part.gathered(of, tokens));
            pairs.push_back({d, inputs.row(part.row(conv.weight, m))});
          }
          Value kept;
          if (dFinal)
            kept = part.indices(
                {{own.entry, "t"}, {own.sequence, "t"}, {own.length, "t"}},
                [&](ScalarBuilder &s, ValueRange e) -> Value {
                  Value entry = minus(s, e[0], e[2]);
                  Value row = plus(s, times(s, e[1], conv.width - 1), entry);
                  return orNone(s, isAtLeast(s, entry, 0), row);
                });
          return {weighted(part, inputs, pairs, kept, type.getElementType())};
        })[0];
    return split(b, conv.loc, found, conv.sizesOfStates(b), 2, true);
  }

private:
  /// The sum of tiles times rows of weights, and of the rows `kept` (or null)
  /// of the last tokens' cotangent.
  Value weighted(Part &part, Inputs &inputs,
                 ArrayRef<std::pair<int, int>> pairs, Value kept, Type type) {
    int last = kept ? inputs.tile(part.gathered(dFinal, kept)) : -1;
    return part.map(
        inputs.all, type, [&](ScalarBuilder &s, ValueRange e) -> Value {
          Value sum = last < 0 ? Value() : s.widen(e[last]);
          for (auto [d, weight] : pairs) {
            Value value = s.widen(e[d]), factor = s.widen(e[weight]);
            sum = sum ? s.fma(factor, value, sum) : s.mul(factor, value);
          }
          return sum;
        });
  }

  SmallVector<OpFoldResult> sizesOf(RankedTensorType type) {
    return getAsIndexOpFoldResult(b.getContext(), type.getShape());
  }

  Value finished(Value x, RankedTensorType type) {
    return Tiles(b, conv.loc, conv.wide)
        .convert(x, cast<FloatType>(type.getElementType()));
  }

  OpBuilder &b;
  Conv conv;
  Value dY, dFinal, dZ;
  int64_t channels;
  Places packed;
  Values sums;
};

} // namespace

FailureOr<SmallVector<Value>> ShortConvBwdOp::decomposeOperation(OpBuilder &b) {
  SmallVector<Value> perToken = {getDY(), getGradients()[0]},
                     states = {getInitial(), getDFinal()};
  if (getInitial())
    states.push_back(getGradients().back());
  if (failed(checkExtents(b, *this, perToken, states)))
    return failure();
  // By place: one value may be several operands.
  struct Result {
    RankedTensorType type;
    bool wanted;
    Value (ConvGradient::*make)(RankedTensorType);
  };
  SmallVector<Result> results;
  auto result = [&](Value operand, auto make) {
    if (!operand)
      return false;
    // What nobody reads is not computed.
    bool wanted = !getGradients()[results.size()].use_empty();
    results.push_back({Recurrence::type(operand), wanted, make});
    return wanted;
  };
  result(getX(), &ConvGradient::ofTokens);
  bool ofWeight = result(getWeight(), &ConvGradient::ofWeight);
  bool ofBias = result(getBias(), &ConvGradient::ofBias);
  result(getInitial(), &ConvGradient::ofStates);

  SmallVector<Value> found;
  RankedTensorType x = Recurrence::type(getX());
  if (x.hasStaticShape() && x.getNumElements() == 0) {
    for (const Result &each : results)
      found.push_back(zerosOf(b, getLoc(), each.type));
    if (getInitial() && getDFinal())
      found.back() = getDFinal();
    return found;
  }
  ConvGradient gradient(b, *this);
  gradient.throughActivation(ofWeight, ofBias);
  for (auto [each, of] : llvm::zip_equal(results, getDifferentiable()))
    found.push_back(each.wanted ? (gradient.*each.make)(each.type)
                                : tensor::EmptyOp::create(
                                      b, getLoc(),
                                      tensor::getMixedSizes(b, getLoc(), of),
                                      each.type.getElementType()));
  return found;
}

FailureOr<SmallVector<Value>>
ShortConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                      const llvm::SmallBitVector &needed) {
  Value dY = cotangents[0];
  if (!dY) {
    // Only the last tokens were used.
    dY = zeros(builder, getLoc(),
               tensor::getMixedSizes(builder, getLoc(), getX()),
               Recurrence::type(getX()).getElementType());
  }
  SmallVector<Type> types;
  for (Value operand : getDifferentiable())
    types.push_back(operand.getType());
  auto gradient = ShortConvBwdOp::create(
      builder, getLoc(), types, getActivation(), getX(), getWeight(), getBias(),
      getInitial(), getStarts(), dY, cotangents[1]);
  SmallVector<Value> gradients(gradient.getResults());
  if (getStarts())
    gradients.push_back(Value());
  return gradients;
}

FailureOr<SmallVector<Value>>
ShortConvBwdOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                         const llvm::SmallBitVector &needed) {
  return emitOpError() << "has no gradient: short convolutions are "
                       << "differentiated once; write them as a sum of slices "
                       << "where second derivatives are needed";
}

} // namespace drawloom::linrec
