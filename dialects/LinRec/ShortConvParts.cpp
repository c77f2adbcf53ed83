//===- ShortConvParts.cpp - what short convolutions share -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/ShortConvParts.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec::shortconv {

/// Rows of a tile, and of a block, which adds up what is summed over tokens.
constexpr int64_t tileRows = 16, blockRows = 256;

static StringRef channelLoops(size_t count) {
  assert(count <= size_t{mostChannelLoops} && "no names for so many loops");
  return StringRef("uvwxyz").take_front(count);
}
static StringRef rowLoops(size_t channels) {
  return StringRef("tuvwxyz").take_front(channels + 1);
}

Value zerosOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, type,
                                   cast<TypedAttr>(b.getZeroAttr(type)));
}

/// How dimensions of a tensor are joined: `leading` ones that are no channels,
/// and where they are `flat` channels.
static SmallVector<ReassociationIndices> groupsOf(int64_t rank, int64_t leading,
                                                  bool flat) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i)
    if (i == 0 || i == leading || (i > leading && !flat))
      groups.push_back({i});
    else
      groups.back().push_back(i);
  return groups;
}

Value joined(OpBuilder &b, Location loc, Value x, int64_t leading, bool flat) {
  int64_t rank = Recurrence::type(x).getRank();
  SmallVector<ReassociationIndices> groups = groupsOf(rank, leading, flat);
  if (static_cast<int64_t>(groups.size()) == rank)
    return x;
  return tensor::CollapseShapeOp::create(b, loc, x, groups);
}

Value split(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> shape,
            int64_t leading, bool flat) {
  auto type =
      RankedTensorType::get(shape, Recurrence::type(x).getElementType());
  if (type == x.getType())
    return x;
  return tensor::ExpandShapeOp::create(b, loc, type, x,
                                       groupsOf(shape.size(), leading, flat));
}

Places placesOfTokens(OpBuilder &b, const Conv &conv) {
  if (!conv.starts)
    return {};
  Tiles t(b, conv.loc, conv.wide);
  Type number = b.getI32Type();
  auto filled = [&](int64_t value) -> Value {
    Value empty = tensor::EmptyOp::create(b, conv.loc, conv.rows, number);
    Value first = arith::ConstantOp::create(
        b, conv.loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
    return linalg::FillOp::create(b, conv.loc, first, empty).getResult(0);
  };
  // Whatever the starts are, a row's sequence is one that there is, and it
  // begins at the row or before it and ends behind it.
  Values found = t.generic(
      {{conv.starts, "n"}},
      {{filled(-1), "t"}, {filled(0), "t"}, {filled(conv.rows), "t"}},
      [&](ScalarBuilder &s, ValueRange e) -> Values {
        OpBuilder &in = s.builder;
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(
              in, s.loc, in.getI32IntegerAttr(static_cast<int32_t>(value)));
        };
        Value row = linalg::IndexOp::create(in, s.loc, 0);
        row = arith::IndexCastOp::create(in, s.loc, number, row);
        Value start = e[0];
        if (start.getType().isIndex())
          start = arith::IndexCastOp::create(in, s.loc, number, start);
        else if (start.getType() != number)
          start = arith::TruncIOp::create(in, s.loc, number, start);
        Value begun = arith::CmpIOp::create(
            in, s.loc, arith::CmpIPredicate::sle, start, row);
        Value zero = constant(0);
        Value counted = s.select(begun, constant(1), zero);
        Value first = s.select(begun, start, zero);
        Value last = s.select(begun, constant(conv.rows), start);
        return {arith::AddIOp::create(in, s.loc, e[1], counted),
                arith::MaxSIOp::create(in, s.loc, e[2], first),
                arith::MinSIOp::create(in, s.loc, e[3], last)};
      });
  auto made =
      [&](llvm::function_ref<Value(ScalarBuilder &, Value row, ValueRange)>
              body) {
        Value empty =
            tensor::EmptyOp::create(b, conv.loc, conv.rows, b.getIndexType());
        return t.generic(
            {{found[0], "t"}, {found[1], "t"}, {found[2], "t"}}, {{empty, "t"}},
            [&](ScalarBuilder &s, ValueRange e) -> Values {
              Value row = linalg::IndexOp::create(s.builder, s.loc, 0);
              Values own;
              for (Value x : e.drop_back())
                own.push_back(arith::IndexCastOp::create(
                    s.builder, s.loc, s.builder.getIndexType(), x));
              return {body(s, row, own)};
            })[0];
      };
  Places places;
  places.sequence = made([&](ScalarBuilder &s, Value, ValueRange e) -> Value {
    Value zero = arith::ConstantIndexOp::create(s.builder, s.loc, 0);
    Value last =
        arith::ConstantIndexOp::create(s.builder, s.loc, conv.sequences - 1);
    Value bounded = arith::MinSIOp::create(s.builder, s.loc, e[0], last);
    return arith::MaxSIOp::create(s.builder, s.loc, bounded, zero);
  });
  places.position =
      made([&](ScalarBuilder &s, Value row, ValueRange e) -> Value {
        return arith::SubIOp::create(s.builder, s.loc, row, e[1]);
      });
  places.left = made([&](ScalarBuilder &s, Value row, ValueRange e) -> Value {
    Value one = arith::ConstantIndexOp::create(s.builder, s.loc, 1);
    Value behind = arith::SubIOp::create(s.builder, s.loc, e[2], row);
    return arith::SubIOp::create(s.builder, s.loc, behind, one);
  });
  return places;
}

std::pair<Value, Value> boundsOfStates(OpBuilder &b, const Conv &conv) {
  if (!conv.starts)
    return {};
  Tiles t(b, conv.loc, conv.wide);
  auto entries = [&](int64_t from) -> Value {
    Value own = tensor::ExtractSliceOp::create(
        b, conv.loc, conv.starts, ArrayRef<OpFoldResult>{b.getIndexAttr(from)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(conv.sequences)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    own = repeated(b, conv.loc, own, 1, conv.width - 1);
    return reshaped(b, conv.loc, own, {conv.stateRows()});
  };
  auto asIndex = [&](ScalarBuilder &s, Value x) -> Value {
    Value zero = arith::ConstantIndexOp::create(s.builder, s.loc, 0);
    Value all = arith::ConstantIndexOp::create(s.builder, s.loc, conv.rows);
    if (!x.getType().isIndex())
      x = arith::IndexCastOp::create(s.builder, s.loc, s.builder.getIndexType(),
                                     x);
    x = arith::MaxSIOp::create(s.builder, s.loc, x, zero);
    return arith::MinSIOp::create(s.builder, s.loc, x, all);
  };
  auto empty = [&]() -> Value {
    return tensor::EmptyOp::create(b, conv.loc, conv.stateRows(),
                                   b.getIndexType());
  };
  Value first = entries(0), end = entries(1);
  Values found =
      t.generic({{first, "t"}, {end, "t"}}, {{empty(), "t"}, {empty(), "t"}},
                [&](ScalarBuilder &s, ValueRange e) -> Values {
                  Value from = asIndex(s, e[0]);
                  Value to = arith::MaxSIOp::create(s.builder, s.loc,
                                                    asIndex(s, e[1]), from);
                  return {from, to};
                });
  return {found[0], found[1]};
}

Value Part::indices(
    ArrayRef<Indexed> inputs,
    llvm::function_ref<Value(ScalarBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(t.b, t.loc, count, t.b.getIndexType());
  return t.generic(inputs, {{empty, "t"}},
                   [&](ScalarBuilder &s, ValueRange e) -> Values {
                     return {body(s, e.drop_back())};
                   })[0];
}

Value Part::rowNumbers() {
  if (numbers)
    return numbers;
  return indices({}, [&](ScalarBuilder &s, ValueRange) -> Value {
    Value i = linalg::IndexOp::create(s.builder, s.loc, 0);
    return at ? arith::AddIOp::create(s.builder, s.loc, i, at).getResult() : i;
  });
}

Value Part::entries(Value all) {
  if (isWhole())
    return all;
  if (!numbers)
    return tensor::ExtractSliceOp::create(
        t.b, t.loc, all, ArrayRef<OpFoldResult>{at},
        ArrayRef<OpFoldResult>{t.b.getIndexAttr(count)},
        ArrayRef<OpFoldResult>{t.b.getIndexAttr(1)});
  Value empty = tensor::EmptyOp::create(t.b, t.loc, count,
                                        Recurrence::type(all).getElementType());
  return block::GatherOp::create(t.b, t.loc, empty.getType(), all, numbers,
                                 empty);
}

Value Part::columns(Value all) {
  if (isWhole())
    return all;
  int64_t any = Recurrence::type(all).getDimSize(0);
  return tensor::ExtractSliceOp::create(
      t.b, t.loc, all, ArrayRef<OpFoldResult>{t.b.getIndexAttr(0), channel},
      ArrayRef<OpFoldResult>{t.b.getIndexAttr(any),
                             t.b.getIndexAttr(channels[0])},
      ArrayRef<OpFoldResult>{t.b.getIndexAttr(1), t.b.getIndexAttr(1)});
}

Value Part::gathered(Value all, Value rows) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, channels);
  Value empty = tensor::EmptyOp::create(t.b, t.loc, shape,
                                        Recurrence::type(all).getElementType());
  return block::GatherOp::create(t.b, t.loc, empty.getType(), columns(all),
                                 rows, empty);
}

Value Part::own(Value all) {
  if (isWhole())
    return all;
  if (numbers)
    return gathered(all, numbers);
  return tensor::ExtractSliceOp::create(
      t.b, t.loc, all, ArrayRef<OpFoldResult>{at, channel},
      ArrayRef<OpFoldResult>{t.b.getIndexAttr(count),
                             t.b.getIndexAttr(channels[0])},
      ArrayRef<OpFoldResult>{t.b.getIndexAttr(1), t.b.getIndexAttr(1)});
}

Value Part::row(Value all, int64_t j) {
  RankedTensorType type = Recurrence::type(all);
  bool one = type.getRank() == static_cast<int64_t>(channels.size());
  if (one && isWhole())
    return all;
  SmallVector<OpFoldResult> offsets, sizes;
  if (!one) {
    offsets.push_back(t.b.getIndexAttr(j));
    sizes.push_back(t.b.getIndexAttr(1));
  }
  for (int64_t extent : channels) {
    offsets.push_back(isWhole() ? OpFoldResult(t.b.getIndexAttr(0))
                                : OpFoldResult(channel));
    sizes.push_back(t.b.getIndexAttr(extent));
  }
  SmallVector<OpFoldResult> strides(offsets.size(), t.b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      t.b, t.loc, RankedTensorType::get(channels, type.getElementType()), all,
      offsets, sizes, strides);
}

Value Part::map(ArrayRef<Indexed> inputs, Type element,
                llvm::function_ref<Value(ScalarBuilder &, ValueRange)> body) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, channels);
  Value empty = tensor::EmptyOp::create(t.b, t.loc, shape, element);
  return t.generic(inputs, {{empty, rowLoops(channels.size())}},
                   [&](ScalarBuilder &s, ValueRange e) -> Values {
                     Value y = body(s, e.drop_back());
                     return {s.convert(y, cast<FloatType>(element))};
                   })[0];
}

Value constant(ScalarBuilder &s, int64_t value) {
  return arith::ConstantIndexOp::create(s.builder, s.loc, value);
}
Value plus(ScalarBuilder &s, Value x, int64_t value) {
  return arith::AddIOp::create(s.builder, s.loc, x, constant(s, value));
}
Value minus(ScalarBuilder &s, Value x, Value y) {
  return arith::SubIOp::create(s.builder, s.loc, x, y);
}
Value plus(ScalarBuilder &s, Value x, Value y) {
  return arith::AddIOp::create(s.builder, s.loc, x, y);
}
Value times(ScalarBuilder &s, Value x, int64_t value) {
  return arith::MulIOp::create(s.builder, s.loc, x, constant(s, value));
}
Value isAtLeast(ScalarBuilder &s, Value x, int64_t value) {
  return arith::CmpIOp::create(s.builder, s.loc, arith::CmpIPredicate::sge, x,
                               constant(s, value));
}
Value isBelow(ScalarBuilder &s, Value x, Value y) {
  return arith::CmpIOp::create(s.builder, s.loc, arith::CmpIPredicate::slt, x,
                               y);
}
Value both(ScalarBuilder &s, Value x, Value y) {
  return arith::AndIOp::create(s.builder, s.loc, x, y);
}
Value orNone(ScalarBuilder &s, Value condition, Value row) {
  return s.select(condition, row, constant(s, -1));
}

Places placesIn(Part &part, const Conv &conv, const Places &packed,
                Value rows) {
  Places own;
  if (conv.starts) {
    own.sequence = part.entries(packed.sequence);
    own.position = part.entries(packed.position);
    own.left = part.entries(packed.left);
    return own;
  }
  own.position =
      part.indices({{rows, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return arith::RemSIOp::create(s.builder, s.loc, e[0],
                                      constant(s, conv.tokens));
      });
  own.sequence =
      part.indices({{rows, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return arith::DivSIOp::create(s.builder, s.loc, e[0],
                                      constant(s, conv.tokens));
      });
  own.left = part.indices({{own.position, "t"}},
                          [&](ScalarBuilder &s, ValueRange e) -> Value {
                            return minus(s, constant(s, conv.tokens - 1), e[0]);
                          });
  return own;
}

Taps tapsOf(Part &part, const Conv &conv, const Places &places, Value rows) {
  Taps taps;
  for (int64_t j = 0; j < conv.width; ++j) {
    Value of = part.indices({{rows, "t"}, {places.position, "t"}},
                            [&](ScalarBuilder &s, ValueRange e) -> Value {
                              return orNone(s, isAtLeast(s, e[1], j),
                                            plus(s, e[0], -j));
                            });
    taps.x.push_back(part.gathered(conv.x, of));
    taps.weight.push_back(part.row(conv.weight, conv.width - 1 - j));
    if (!conv.initial || j == 0) {
      taps.initial.push_back(Value());
      continue;
    }
    of = part.indices(
        {{rows, "t"}, {places.sequence, "t"}, {places.position, "t"}},
        [&](ScalarBuilder &s, ValueRange e) -> Value {
          Value before =
              both(s, isAtLeast(s, e[0], 0), isBelow(s, e[2], constant(s, j)));
          Value first = plus(s, times(s, e[1], conv.width - 1), e[2]);
          return orNone(s, before, plus(s, first, conv.width - 1 - j));
        });
    taps.initial.push_back(part.gathered(conv.initial, of));
  }
  return taps;
}

Inputs::Inputs(const Part &part)
    : rows(rowLoops(part.channels.size())),
      channels(channelLoops(part.channels.size())) {}

int Inputs::add(Value x, StringRef loops) {
  if (!x)
    return -1;
  all.push_back({x, loops});
  return static_cast<int>(all.size()) - 1;
}

Sum::Sum(Inputs &inputs, const Part &part, const Conv &conv, const Taps &taps)
    : width(conv.width) {
  for (int64_t j = 0; j < width; ++j) {
    x.push_back(inputs.tile(taps.x[j]));
    initial.push_back(inputs.tile(taps.initial[j]));
    weight.push_back(inputs.row(taps.weight[j]));
  }
  if (conv.bias)
    bias = inputs.row(const_cast<Part &>(part).row(conv.bias, 0));
}

Value Sum::token(ScalarBuilder &s, ValueRange e, int64_t j) const {
  Value value = s.widen(e[x[j]]);
  // One of both is 0.
  return initial[j] < 0 ? value : s.add(value, s.widen(e[initial[j]]));
}

Value Sum::operator()(ScalarBuilder &s, ValueRange e) const {
  Value z = bias < 0 ? Value() : s.widen(e[bias]);
  for (int64_t j = width; j-- > 0;) {
    Value value = token(s, e, j), factor = s.widen(e[weight[j]]);
    z = z ? s.fma(factor, value, z) : s.mul(factor, value);
  }
  return z;
}

//===----------------------------------------------------------------------===//
// Blocks of rows and channels
//===----------------------------------------------------------------------===//

/// Channels of a block: what vectors and caches like, if it divides them.
static int64_t channelsOfBlock(int64_t channels) {
  constexpr int64_t most = 128;
  if (channels <= most)
    return channels;
  for (int64_t lanes : {16, 8, 4, 1})
    for (int64_t size = most; size >= most / 8; --size)
      if (size % lanes == 0 && channels % size == 0)
        return size;
  return channels;
}

int64_t blocksOf(int64_t rows) { return llvm::divideCeil(rows, blockRows); }

Values overParts(OpBuilder &b, Location loc, FloatType wide, int64_t rows,
                 int64_t channels, ArrayRef<Made> results, PartBody body) {
  Tiles t(b, loc, wide);
  int64_t size = channelsOfBlock(channels), blocks = blocksOf(rows);
  // Two rows at least: all numbers of a single one would be constants, which
  // tiles of a GPU are not.
  int64_t tile = std::clamp<int64_t>(rows, 2, tileRows);
  bool gathers = rows % tile != 0;
  SmallVector<Value> outs;
  for (const Made &made : results)
    outs.push_back(made.empty);
  auto forall = scf::ForallOp::create(
      b, loc,
      ArrayRef<OpFoldResult>{b.getIndexAttr(blocks),
                             b.getIndexAttr(channels / size)},
      outs, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value block = forall.getInductionVar(0);
  Value first = arith::MulIOp::create(b, loc, block, t.index(blockRows));
  Value channel =
      arith::MulIOp::create(b, loc, forall.getInductionVar(1), t.index(size));
  OpFoldResult length = b.getIndexAttr(std::min(rows, blockRows));
  if (blocks > 1 && rows % blockRows != 0)
    length = arith::MinSIOp::create(
                 b, loc, t.index(blockRows),
                 arith::SubIOp::create(b, loc, t.index(rows), first))
                 .getResult();
  OpFoldResult one = b.getIndexAttr(1), ofBlock = b.getIndexAttr(size);
  SmallVector<OpFoldResult> strides(2, one);
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes;
  };
  SmallVector<Slice> slices;
  Values parts;
  for (auto [made, out] :
       llvm::zip_equal(results, forall.getRegionIterArgs())) {
    Type element = Recurrence::type(out).getElementType();
    Slice slice = {{made.isSum ? block : first, channel},
                   {made.isSum ? one : length, ofBlock}};
    auto type = RankedTensorType::get(
        {getConstantIntValue(length).value_or(ShapedType::kDynamic), size},
        element);
    if (made.isSum)
      type = RankedTensorType::get({size}, element);
    Value part = tensor::ExtractSliceOp::create(
        b, loc, type, out, slice.offsets, slice.sizes, strides);
    if (made.isSum)
      part = linalg::FillOp::create(b, loc, zerosOf(b, loc, element), part)
                 .getResult(0);
    parts.push_back(part);
    slices.push_back(slice);
  }
  Value end = getConstantIntValue(length)
                  ? t.index(*getConstantIntValue(length))
                  : cast<Value>(length);
  Values written =
      t.loop(t.index(0), end, tile, parts, [&](Value at, ValueRange carried) {
        Part part = {t,       tile,
                     {size},  arith::AddIOp::create(b, loc, first, at),
                     channel, Value()};
        Value local;
        if (gathers) {
          auto numbered = [&](Value from) {
            return part.indices({}, [&](ScalarBuilder &s, ValueRange) -> Value {
              Value i = linalg::IndexOp::create(s.builder, s.loc, 0);
              return orNone(s, isBelow(s, plus(s, i, at), end),
                            plus(s, i, from));
            });
          };
          part.numbers = numbered(part.at);
          local = numbered(at);
        }
        Values sums;
        for (auto [made, value] : llvm::zip_equal(results, carried))
          if (made.isSum)
            sums.push_back(value);
        Values found = body(part, sums);
        for (auto [made, value, into] :
             llvm::zip_equal(results, found, carried)) {
          if (made.isSum)
            continue;
          if (gathers)
            value = block::ScatterOp::create(b, loc, into.getType(), value,
                                             local, into);
          else
            value = tensor::InsertSliceOp::create(
                b, loc, value, into,
                ArrayRef<OpFoldResult>{at, b.getIndexAttr(0)},
                ArrayRef<OpFoldResult>{b.getIndexAttr(tile), ofBlock}, strides);
        }
        return found;
      });
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [value, slice, out] :
       llvm::zip_equal(written, slices, forall.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(b, loc, value, out, slice.offsets,
                                          slice.sizes, strides);
  return Values(forall.getResults());
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

StatePlaces statesIn(Part &part, const Conv &conv,
                     std::pair<Value, Value> bounds) {
  StatePlaces own;
  Value rows = part.rowNumbers();
  auto made = [&](ArrayRef<Indexed> inputs,
                  llvm::function_ref<Value(ScalarBuilder &, ValueRange)> body) {
    return part.indices(inputs, body);
  };
  own.entry = made({{rows, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
    return arith::RemSIOp::create(s.builder, s.loc, e[0],
                                  constant(s, conv.width - 1));
  });
  own.sequence =
      made({{rows, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return arith::DivSIOp::create(s.builder, s.loc, e[0],
                                      constant(s, conv.width - 1));
      });
  if (conv.starts) {
    own.first = part.entries(bounds.first);
    Value end = part.entries(bounds.second);
    own.length = made({{own.first, "t"}, {end, "t"}},
                      [&](ScalarBuilder &s, ValueRange e) -> Value {
                        return minus(s, e[1], e[0]);
                      });
    return own;
  }
  own.first =
      made({{own.sequence, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return times(s, e[0], conv.tokens);
      });
  own.length = made({}, [&](ScalarBuilder &s, ValueRange) -> Value {
    return constant(s, conv.tokens);
  });
  return own;
}

LogicalResult checkStatic(Operation *op) {
  for (Value value : op->getOperands())
    if (!Recurrence::type(value).hasStaticShape())
      return op->emitOpError()
             << "can be compiled only for known numbers of "
             << "sequences and tokens, but an operand is " << value.getType();
  return success();
}

} // namespace drawloom::linrec::shortconv
