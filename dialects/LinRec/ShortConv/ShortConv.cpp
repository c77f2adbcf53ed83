//===- ShortConv.cpp - short convolutions ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/ShortConv/ShortConvParts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

using namespace shortconv;

static Value forward(Part &part, const Conv &conv, const Places &places,
                     Value rows) {
  Taps taps = tapsOf(part, conv, places, rows);
  Inputs inputs(part);
  Sum sum(inputs, part, conv, taps);
  return part.map(inputs.all, Recurrence::type(conv.x).getElementType(),
                  [&](ScalarBuilder &s, ValueRange e) -> Value {
                    Value z = sum(s, e);
                    if (!conv.silu)
                      return z;
                    Value below = s.add(s.exp(s.neg(z)), 1.0);
                    return s.div(z, below);
                  });
}

static Value finalState(OpBuilder &b, const Conv &conv, RankedTensorType type) {
  Value found = overParts(
      b, conv.loc, conv.wide, conv.stateRows(b), conv.channels[0],
      {{emptyStates(b, conv, type.getElementType()), false}},
      [&](Part &part, ValueRange) -> Values {
        StatePlaces own = statesIn(part, conv);
        // Entry i is entry length + i of the state and the tokens behind it.
        Value tokens = part.indices(
            {{own.entry, "t"}, {own.first, "t"}, {own.length, "t"}},
            [&](ScalarBuilder &s, ValueRange e) -> Value {
              Value token = plus(s, plus(s, e[0], e[2]), -(conv.width - 1));
              Value there =
                  both(s, isAtLeast(s, e[0], 0), isAtLeast(s, token, 0));
              return orNone(s, there, plus(s, e[1], token));
            });
        Value last = part.gathered(conv.x, tokens);
        if (!conv.initial)
          return {last};
        Value states = part.indices(
            {{own.entry, "t"}, {own.sequence, "t"}, {own.length, "t"}},
            [&](ScalarBuilder &s, ValueRange e) -> Value {
              Value entry = plus(s, e[0], e[2]);
              Value there =
                  both(s, isAtLeast(s, e[0], 0),
                       isBelow(s, entry, constant(s, conv.width - 1)));
              Value row = plus(s, times(s, e[1], conv.width - 1), entry);
              return orNone(s, there, row);
            });
        Inputs inputs(part);
        inputs.tile(last), inputs.tile(part.gathered(conv.initial, states));
        return {part.map(inputs.all, type.getElementType(),
                         [](ScalarBuilder &s, ValueRange e) -> Value {
                           return s.add(s.widen(e[0]), s.widen(e[1]));
                         })};
      })[0];
  return split(b, conv.loc, found, conv.sizesOfStates(b), 2, true);
}

FailureOr<Value> ShortConvOp::buildStructuredForm(OpBuilder &b) {
  RankedTensorType type = Recurrence::type(getY());
  for (Value operand : getOperands())
    if (!Recurrence::type(operand).hasStaticShape())
      return failure();
  // A single token is not worth joining, and loops have no more names.
  if (type.getNumElements() == 0 || type.getRank() - 2 > mostChannelLoops ||
      type.getDimSize(0) * type.getDimSize(1) == 1)
    return failure();
  Conv conv(b, *this, /*flat=*/false);
  Tiles t(b, getLoc(), conv.wide);
  Part all = {
      t,      *getConstantIntValue(conv.rows), conv.channels, Value(), Value(),
      Value()};
  Value rows = all.rowNumbers();
  Places places = placesIn(all, conv, placesOfTokens(b, conv), rows);
  return split(b, getLoc(), forward(all, conv, places, rows), conv.sizes, 2,
               false);
}

FailureOr<SmallVector<Value>> ShortConvOp::decomposeOperation(OpBuilder &b) {
  RankedTensorType type = Recurrence::type(getY());
  RankedTensorType stateType = Recurrence::type(getFinal());
  if (failed(checkExtents(b, *this, {getY()}, {getInitial(), getFinal()})))
    return failure();
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return SmallVector<Value>{
        tensor::EmptyOp::create(b, getLoc(), type.getShape(),
                                type.getElementType()),
        getInitial() ? getInitial() : zerosOf(b, getLoc(), stateType)};
  Conv conv(b, *this, /*flat=*/true);
  Value y =
      tensor::EmptyOp::create(b, getLoc(), conv.sizes, type.getElementType());
  Value final = tensor::EmptyOp::create(b, getLoc(), conv.sizesOfStates(b),
                                        stateType.getElementType());
  // What nobody reads is not computed.
  if (!getY().use_empty()) {
    Places packed = placesOfTokens(b, conv);
    Value found =
        overParts(b, getLoc(), conv.wide, conv.rows, conv.channels[0],
                  {{emptyTokens(b, conv, type.getElementType()), false}},
                  [&](Part &part, ValueRange) -> Values {
                    Value rows = part.rowNumbers();
                    Places places = placesIn(part, conv, packed, rows);
                    return {forward(part, conv, places, rows)};
                  })[0];
    y = split(b, getLoc(), found, conv.sizes, 2, true);
  }
  if (!getFinal().use_empty())
    final = finalState(b, conv, stateType);
  return SmallVector<Value>{y, final};
}

} // namespace drawloom::linrec
