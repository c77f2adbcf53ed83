//===- ShortConv.cpp - short convolutions and their gradient --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens of all sequences lie behind each other as rows, [rows, channels]. A
// tap j is a gather: row t of it is row t - j, and nothing where that lies in
// front of t's sequence, which is a row of the initial state then. So a row
// knows nothing of its neighbours' sequences, and everything else is
// elementwise. The same formulas say the op for tiles of rows and channels,
// which are the blocks of its own program, and for all rows at once, which is
// what `fuse-neighbours` cuts into the blocks of its readers.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/LinRec/Recurrence.h"
#include "dialects/LinRec/Shapes.h"
#include "dialects/LinRec/Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

using Values = Tiles::Values;

/// Rows of a tile, and of a block, which adds up what is summed over tokens.
constexpr int64_t tileRows = 16, blockRows = 256;

StringRef channelLoops(size_t count) {
  return StringRef("uvwxyz").take_front(count);
}
StringRef rowLoops(size_t channels) {
  return StringRef("tuvwxyz").take_front(channels + 1);
}

Value zerosOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, type,
                                   cast<TypedAttr>(b.getZeroAttr(type)));
}

/// How dimensions of a tensor are joined: `leading` ones that are no channels,
/// and where they are `flat` channels.
SmallVector<ReassociationIndices> groupsOf(int64_t rank, int64_t leading,
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

/// What both ops have in common, tokens and states as rows.
struct Conv {
  /// Channels become one dimension where they are `flat`.
  template <typename Op>
  Conv(OpBuilder &b, Op op, bool flat)
      : loc(op.getLoc()), starts(op.getStarts()), flat(flat),
        silu(op.getActivation() == ConvActivation::Silu) {
    RankedTensorType type = Recurrence::type(op.getX());
    sequences = starts ? Recurrence::type(starts).getDimSize(0) - 1
                       : type.getDimSize(0);
    tokens = type.getDimSize(1);
    rows = type.getDimSize(0) * tokens;
    width = Recurrence::type(op.getWeight()).getShape().back();
    wide = computeType(type.getElementType());
    x = joined(b, loc, op.getX(), 2, flat);
    channels.assign(Recurrence::type(x).getShape().drop_front().begin(),
                    Recurrence::type(x).getShape().end());
    SmallVector<int64_t> lastFirst = {type.getRank() - 2};
    for (int64_t i = 0; i < type.getRank() - 2; ++i)
      lastFirst.push_back(i);
    weight =
        joined(b, loc, transposed(b, loc, op.getWeight(), lastFirst), 1, flat);
    if (op.getBias())
      bias = joined(b, loc, op.getBias(), 0, flat);
    if (op.getInitial())
      initial = joined(b, loc, op.getInitial(), 2, flat);
  }

  int64_t stateRows() const { return sequences * (width - 1); }

  Location loc;
  Value x;       ///< [rows, channels]
  Value weight;  ///< [width, channels]
  Value bias;    ///< [channels], or null
  Value initial; ///< [sequences (width - 1), channels], or null
  Value starts;
  bool flat, silu;
  int64_t sequences, tokens, rows, width;
  SmallVector<int64_t> channels;
  FloatType wide;
};

/// Of each row its sequence, its token's number there, and how many tokens are
/// behind it.
struct Places {
  Value sequence, position, left;
};

/// These of all rows where sequences are packed; null otherwise.
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

/// Of each row of states, where its sequence begins and ends.
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

/// Rows and channels that are computed together: those of a block's tile, or
/// all.
struct Part {
  Tiles &t;
  int64_t count;                 ///< Of rows,
  SmallVector<int64_t> channels; ///< and channels.
  /// The first row, null for all rows, and the first channel.
  Value at, channel;
  /// The numbers of the rows, negative where there is none; null where all are
  /// there.
  Value numbers;

  bool isWhole() const { return !at; }

  /// A number for each row.
  Value indices(ArrayRef<Indexed> inputs,
                llvm::function_ref<Value(ScalarBuilder &, ValueRange)> body) {
    Value empty =
        tensor::EmptyOp::create(t.b, t.loc, count, t.b.getIndexType());
    return t.generic(inputs, {{empty, "t"}},
                     [&](ScalarBuilder &s, ValueRange e) -> Values {
                       return {body(s, e.drop_back())};
                     })[0];
  }

  /// The numbers of the rows, as a tensor.
  Value rowNumbers() {
    if (numbers)
      return numbers;
    return indices({}, [&](ScalarBuilder &s, ValueRange) -> Value {
      Value i = linalg::IndexOp::create(s.builder, s.loc, 0);
      return at ? arith::AddIOp::create(s.builder, s.loc, i, at).getResult()
                : i;
    });
  }

  /// The part's entries of [all rows].
  Value entries(Value all) {
    if (isWhole())
      return all;
    if (!numbers)
      return tensor::ExtractSliceOp::create(
          t.b, t.loc, all, ArrayRef<OpFoldResult>{at},
          ArrayRef<OpFoldResult>{t.b.getIndexAttr(count)},
          ArrayRef<OpFoldResult>{t.b.getIndexAttr(1)});
    Value empty = tensor::EmptyOp::create(
        t.b, t.loc, count, Recurrence::type(all).getElementType());
    return block::GatherOp::create(t.b, t.loc, empty.getType(), all, numbers,
                                   empty);
  }

  /// Rows of [any, channels], all of them, with the part's channels.
  Value columns(Value all) {
    if (isWhole())
      return all;
    int64_t any = Recurrence::type(all).getDimSize(0);
    return tensor::ExtractSliceOp::create(
        t.b, t.loc, all, ArrayRef<OpFoldResult>{t.b.getIndexAttr(0), channel},
        ArrayRef<OpFoldResult>{t.b.getIndexAttr(any),
                               t.b.getIndexAttr(channels[0])},
        ArrayRef<OpFoldResult>{t.b.getIndexAttr(1), t.b.getIndexAttr(1)});
  }

  /// These rows of it, zeros where the number is negative.
  Value gathered(Value all, Value rows) {
    SmallVector<int64_t> shape = {count};
    llvm::append_range(shape, channels);
    Value empty = tensor::EmptyOp::create(
        t.b, t.loc, shape, Recurrence::type(all).getElementType());
    return block::GatherOp::create(t.b, t.loc, empty.getType(), columns(all),
                                   rows, empty);
  }

  /// The part's own rows of [all rows, channels].
  Value own(Value all) {
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

  /// Row j of [any, channels], or of [channels] itself.
  Value row(Value all, int64_t j) {
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

  /// A new tile of these rows and channels.
  Value map(ArrayRef<Indexed> inputs, Type element,
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
};

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

/// The part's rows in their sequences.
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

/// What the formula of z reads: for each tap its rows of x, those of the
/// initial state or null, and its weights.
struct Taps {
  Values x, initial, weight;
};

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

/// The operands of a generic over rows and channels, and how its body finds
/// them.
class Inputs {
public:
  explicit Inputs(const Part &part)
      : rows(rowLoops(part.channels.size())),
        channels(channelLoops(part.channels.size())) {}

  /// The number of the input, -1 for null.
  int tile(Value x) { return add(x, rows); }
  int row(Value x) { return add(x, channels); }

  SmallVector<Indexed> all;

private:
  int add(Value x, StringRef loops) {
    if (!x)
      return -1;
    all.push_back({x, loops});
    return static_cast<int>(all.size()) - 1;
  }
  StringRef rows, channels;
};

/// z by the formula, from the oldest token on.
struct Sum {
  Sum(Inputs &inputs, const Part &part, const Conv &conv, const Taps &taps)
      : width(conv.width) {
    for (int64_t j = 0; j < width; ++j) {
      x.push_back(inputs.tile(taps.x[j]));
      initial.push_back(inputs.tile(taps.initial[j]));
      weight.push_back(inputs.row(taps.weight[j]));
    }
    if (conv.bias)
      bias = inputs.row(const_cast<Part &>(part).row(conv.bias, 0));
  }

  Value token(ScalarBuilder &s, ValueRange e, int64_t j) const {
    Value value = s.widen(e[x[j]]);
    // One of both is 0.
    return initial[j] < 0 ? value : s.add(value, s.widen(e[initial[j]]));
  }

  Value operator()(ScalarBuilder &s, ValueRange e) const {
    Value z = bias < 0 ? Value() : s.widen(e[bias]);
    for (int64_t j = width; j-- > 0;) {
      Value value = token(s, e, j), factor = s.widen(e[weight[j]]);
      z = z ? s.fma(factor, value, z) : s.mul(factor, value);
    }
    return z;
  }

  int64_t width;
  SmallVector<int> x, initial, weight;
  int bias = -1;
};

Value sigmoid(ScalarBuilder &s, Value z) {
  return s.div(1.0, s.add(s.exp(s.neg(z)), 1.0));
}

Value forward(Part &part, const Conv &conv, const Places &places, Value rows) {
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

//===----------------------------------------------------------------------===//
// Blocks of rows and channels
//===----------------------------------------------------------------------===//

/// Channels of a block: what vectors and caches like, if it divides them.
int64_t channelsOfBlock(int64_t channels) {
  constexpr int64_t most = 128;
  if (channels <= most)
    return channels;
  for (int64_t lanes : {16, 8, 4, 1})
    for (int64_t size = most; size >= most / 8; --size)
      if (size % lanes == 0 && channels % size == 0)
        return size;
  return channels;
}

/// What blocks make: of each row, [rows, channels], or one sum of each block,
/// [blocks, channels].
struct Made {
  Value empty;
  bool isSum;
};

int64_t blocksOf(int64_t rows) { return llvm::divideCeil(rows, blockRows); }

using PartBody = llvm::function_ref<Values(Part &, ValueRange sums)>;

/// A block program over blocks of rows and of channels. `body` gives tiles of
/// rows, and sums from the sums so far, in the order of `results`.
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

/// Of each of the part's rows of states: where it is among its sequence's
/// (0 .. W - 2), the sequence, and the sequence's first token and length.
struct StatePlaces {
  Value entry, sequence, first, length;
};

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

Value finalState(OpBuilder &b, const Conv &conv, RankedTensorType type) {
  std::pair<Value, Value> bounds = boundsOfStates(b, conv);
  Value empty = tensor::EmptyOp::create(
      b, conv.loc, {conv.stateRows(), conv.channels[0]}, type.getElementType());
  Value found = overParts(
      b, conv.loc, conv.wide, conv.stateRows(), conv.channels[0],
      {{empty, false}}, [&](Part &part, ValueRange) -> Values {
        StatePlaces own = statesIn(part, conv, bounds);
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
  return split(b, conv.loc, found, type.getShape(), 2, true);
}

/// What an op needs beside its verifier to become a block program.
LogicalResult checkStatic(Operation *op) {
  for (Value value : op->getOperands())
    if (!Recurrence::type(value).hasStaticShape())
      return op->emitOpError()
             << "can be compiled only for known numbers of "
             << "sequences and tokens, but an operand is " << value.getType();
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FailureOr<Value> ShortConvOp::buildStructured(OpBuilder &b) {
  RankedTensorType type = Recurrence::type(getY());
  for (Value operand : getOperands())
    if (!Recurrence::type(operand).hasStaticShape())
      return failure();
  // A single token is not worth joining.
  if (type.getNumElements() == 0 ||
      type.getDimSize(0) * type.getDimSize(1) == 1)
    return failure();
  Conv conv(b, *this, /*flat=*/false);
  Tiles t(b, getLoc(), conv.wide);
  Part all = {t, conv.rows, conv.channels, Value(), Value(), Value()};
  Value rows = all.rowNumbers();
  Places places = placesIn(all, conv, placesOfTokens(b, conv), rows);
  return split(b, getLoc(), forward(all, conv, places, rows), type.getShape(),
               2, false);
}

FailureOr<SmallVector<Value>> ShortConvOp::decomposeOperation(OpBuilder &b) {
  if (failed(checkStatic(*this)))
    return failure();
  RankedTensorType type = Recurrence::type(getY());
  RankedTensorType stateType = Recurrence::type(getFinal());
  Value y = tensor::EmptyOp::create(b, getLoc(), type.getShape(),
                                    type.getElementType());
  Value final = tensor::EmptyOp::create(b, getLoc(), stateType.getShape(),
                                        stateType.getElementType());
  if (type.getNumElements() == 0)
    return SmallVector<Value>{
        y, getInitial() ? getInitial() : zerosOf(b, getLoc(), stateType)};
  Conv conv(b, *this, /*flat=*/true);
  // What nobody reads is not computed.
  if (!getY().use_empty()) {
    Places packed = placesOfTokens(b, conv);
    Value empty = tensor::EmptyOp::create(
        b, getLoc(), {conv.rows, conv.channels[0]}, type.getElementType());
    Value found =
        overParts(b, getLoc(), conv.wide, conv.rows, conv.channels[0],
                  {{empty, false}}, [&](Part &part, ValueRange) -> Values {
                    Value rows = part.rowNumbers();
                    Places places = placesIn(part, conv, packed, rows);
                    return {forward(part, conv, places, rows)};
                  })[0];
    y = split(b, getLoc(), found, type.getShape(), 2, true);
  }
  if (!getFinal().use_empty())
    final = finalState(b, conv, stateType);
  return SmallVector<Value>{y, final};
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
      results.push_back({empty(conv.rows), false});
    int64_t blocks = blocksOf(conv.rows);
    for (int64_t i = 0; i < (ofWeight ? conv.width : 0) + ofBias; ++i)
      results.push_back({empty(blocks), true});
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
      sums.push_back(sumOver(b, conv.loc, found[next], 0));
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
    return finished(split(b, conv.loc, all, type.getShape(),
                          /*leading=*/type.getRank() - 1, false),
                    type);
  }

  Value ofBias(RankedTensorType type) {
    return finished(split(b, conv.loc, sums.back(), type.getShape(), 0, true),
                    type);
  }

  /// sum_j weight[W - 1 - j] dz_{t+j}, and what of `d_final` is the token's.
  Value ofTokens(RankedTensorType type) {
    Value of = dZ ? dZ : dY;
    Value found = overParts(
        b, conv.loc, conv.wide, conv.rows, channels, {{ofType(type), false}},
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
          int last = -1;
          if (dFinal) {
            Value kept = part.indices(
                {{rows, "t"}, {places.left, "t"}, {places.sequence, "t"}},
                [&](ScalarBuilder &s, ValueRange e) -> Value {
                  Value entry = minus(s, constant(s, conv.width - 2), e[1]);
                  Value there =
                      both(s, isAtLeast(s, e[0], 0), isAtLeast(s, entry, 0));
                  Value row = plus(s, times(s, e[2], conv.width - 1), entry);
                  return orNone(s, there, row);
                });
            last = inputs.tile(part.gathered(dFinal, kept));
          }
          return {part.map(inputs.all, type.getElementType(),
                           [&](ScalarBuilder &s, ValueRange e) -> Value {
                             return weighted(s, e, pairs, last);
                           })};
        })[0];
    return split(b, conv.loc, found, type.getShape(), 2, true);
  }

  /// The same for the tokens in front: entry i meets token i - m of its
  /// sequence by column m of the weights.
  Value ofStates(RankedTensorType type) {
    Value of = dZ ? dZ : dY;
    std::pair<Value, Value> bounds = boundsOfStates(b, conv);
    Value found = overParts(
        b, conv.loc, conv.wide, conv.stateRows(), channels,
        {{ofType(type, conv.stateRows()), false}},
        [&](Part &part, ValueRange) -> Values {
          StatePlaces own = statesIn(part, conv, bounds);
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
          int last = -1;
          if (dFinal) {
            Value kept = part.indices(
                {{own.entry, "t"}, {own.sequence, "t"}, {own.length, "t"}},
                [&](ScalarBuilder &s, ValueRange e) -> Value {
                  Value entry = minus(s, e[0], e[2]);
                  Value row = plus(s, times(s, e[1], conv.width - 1), entry);
                  return orNone(s, isAtLeast(s, entry, 0), row);
                });
            last = inputs.tile(part.gathered(dFinal, kept));
          }
          return {part.map(inputs.all, type.getElementType(),
                           [&](ScalarBuilder &s, ValueRange e) -> Value {
                             return weighted(s, e, pairs, last);
                           })};
        })[0];
    return split(b, conv.loc, found, type.getShape(), 2, true);
  }

private:
  static Value weighted(ScalarBuilder &s, ValueRange e,
                        ArrayRef<std::pair<int, int>> pairs, int last) {
    Value sum = last < 0 ? Value() : s.widen(e[last]);
    for (auto [d, weight] : pairs) {
      Value value = s.widen(e[d]), factor = s.widen(e[weight]);
      sum = sum ? s.fma(factor, value, sum) : s.mul(factor, value);
    }
    return sum;
  }

  Value ofType(RankedTensorType type, int64_t rows = -1) {
    return tensor::EmptyOp::create(b, conv.loc,
                                   {rows < 0 ? conv.rows : rows, channels},
                                   type.getElementType());
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
  if (failed(checkStatic(*this)))
    return failure();
  SmallVector<Value> operands = getDifferentiable(), found;
  if (Recurrence::type(getX()).getNumElements() == 0) {
    for (Value operand : operands)
      found.push_back(operand == getInitial() && getDFinal()
                          ? getDFinal()
                          : zerosOf(b, getLoc(), operand.getType()));
    return found;
  }
  ConvGradient gradient(b, *this);
  // What nobody reads is not computed.
  auto isWanted = [&](Value operand) {
    return operand &&
           !getGradients()[llvm::find(operands, operand) - operands.begin()]
                .use_empty();
  };
  gradient.throughActivation(isWanted(getWeight()), isWanted(getBias()));
  for (Value operand : operands) {
    RankedTensorType type = Recurrence::type(operand);
    if (!isWanted(operand))
      found.push_back(tensor::EmptyOp::create(b, getLoc(), type.getShape(),
                                              type.getElementType()));
    else if (operand == getX())
      found.push_back(gradient.ofTokens(type));
    else if (operand == getWeight())
      found.push_back(gradient.ofWeight(type));
    else if (operand == getBias())
      found.push_back(gradient.ofBias(type));
    else
      found.push_back(gradient.ofStates(type));
  }
  return found;
}

FailureOr<SmallVector<Value>>
ShortConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                      const llvm::SmallBitVector &needed) {
  Value dY = cotangents[0];
  if (!dY) {
    // Only the last tokens were used.
    Type element = Recurrence::type(getX()).getElementType();
    Value zero = arith::ConstantOp::create(builder, getLoc(),
                                           builder.getZeroAttr(element));
    Value empty = tensor::EmptyOp::create(
        builder, getLoc(), tensor::getMixedSizes(builder, getLoc(), getX()),
        element);
    dY = linalg::FillOp::create(builder, getLoc(), zero, empty).getResult(0);
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
