//===- ShortConvParts.cpp - what short convolutions share -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/ShortConv/ShortConvParts.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec::shortconv {

/// Rows of a tile, and of a block at least.
constexpr int64_t tileRows = 16, blockRows = 256;
/// Of the tiles behind the last whole one, where there may be any number.
constexpr int64_t fewRows = 2;
/// Blocks where each makes sums, so that memory for these has one size.
constexpr int64_t mostSums = 64;

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

Value split(OpBuilder &b, Location loc, Value x, ArrayRef<OpFoldResult> sizes,
            int64_t leading, bool flat) {
  SmallVector<int64_t> shape = decomposeMixedValues(sizes).first;
  auto type =
      RankedTensorType::get(shape, Recurrence::type(x).getElementType());
  if (type.getRank() == Recurrence::type(x).getRank())
    return x;
  return tensor::ExpandShapeOp::create(
      b, loc, type, x, groupsOf(shape.size(), leading, flat), sizes);
}

Value emptyRows(OpBuilder &b, const Conv &conv, OpFoldResult sequences,
                OpFoldResult rows, Type element) {
  IndexMath math(b, conv.loc);
  OpFoldResult channels = math.number(conv.channels[0]),
               all = math.mul(sequences, rows);
  // Memory has extents of the call, not products of them.
  if (isa<Attribute>(all))
    return tensor::EmptyOp::create(b, conv.loc, {all, channels}, element);
  Value apart = tensor::EmptyOp::create(b, conv.loc,
                                        {sequences, rows, channels}, element);
  return joined(b, conv.loc, apart, 2, /*flat=*/true);
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
  OpFoldResult any = tensor::getMixedSize(t.b, t.loc, all, 0);
  return tensor::ExtractSliceOp::create(
      t.b, t.loc, all, ArrayRef<OpFoldResult>{t.b.getIndexAttr(0), channel},
      ArrayRef<OpFoldResult>{any, t.b.getIndexAttr(channels[0])},
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
Value number(ScalarBuilder &s, OpFoldResult value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return constant(s, *known);
  return cast<Value>(value);
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
                                      number(s, conv.tokens));
      });
  own.sequence =
      part.indices({{rows, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return arith::DivSIOp::create(s.builder, s.loc, e[0],
                                      number(s, conv.tokens));
      });
  own.left = part.indices(
      {{own.position, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return minus(s, plus(s, number(s, conv.tokens), -1), e[0]);
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

namespace {
/// How rows are cut into blocks, and these into tiles.
struct Cutting {
  Cutting(OpBuilder &b, Location loc, OpFoldResult rows, bool hasSums)
      : math(b, loc), rows(rows), known(getConstantIntValue(rows)) {
    // Two rows at least: all numbers of a single one would be constants, which
    // tiles of a GPU are not.
    tile = known ? std::clamp<int64_t>(*known, 2, tileRows) : tileRows;
    gathers = !known || *known % tile != 0;
    ofBlock = math.number(blockRows);
    if (hasSums) {
      OpFoldResult even = math.ceilDiv(rows, math.number(mostSums)),
                   whole = math.number(tileRows);
      ofBlock = math.max(ofBlock, math.mul(math.ceilDiv(even, whole), whole));
    }
    blocks = math.ceilDiv(rows, ofBlock);
  }

  Value first(Value block) {
    return cast<Value>(math.mul(OpFoldResult(block), ofBlock));
  }
  OpFoldResult length(Value first) {
    if (known && getConstantIntValue(blocks) == 1)
      return rows;
    if (known && *known % *getConstantIntValue(ofBlock) == 0)
      return ofBlock;
    return math.min(ofBlock, math.sub(rows, OpFoldResult(first)));
  }

  IndexMath math;
  OpFoldResult rows;
  std::optional<int64_t> known;
  int64_t tile;
  bool gathers;
  OpFoldResult ofBlock, blocks;
};
} // namespace

int64_t sumsOf(OpBuilder &b, const Conv &conv) {
  if (isa<Value>(conv.rows))
    return mostSums;
  Cutting cutting(b, conv.loc, conv.rows, /*hasSums=*/true);
  return *getConstantIntValue(cutting.blocks);
}

namespace {
/// The rows and channels of one block, and what it makes of them.
struct RowBlock {
  Tiles &t;
  ArrayRef<Made> results;
  PartBody body;
  Value number, first, channel;
  OpFoldResult length;
  /// Channels.
  int64_t size;

  Value end() const {
    std::optional<int64_t> known = getConstantIntValue(length);
    return known ? t.index(*known) : cast<Value>(length);
  }
  Values begin(ValueRange outs) const;
  Values overTiles(Value from, Value to, int64_t tile, bool gathers,
                   ValueRange parts) const;
  void finish(ValueRange parts, ValueRange outs) const;

private:
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  Slice sliceOf(const Made &made) const {
    OpFoldResult one = t.b.getIndexAttr(1);
    return {{made.isSum ? number : first, channel},
            {made.isSum ? one : length, t.b.getIndexAttr(size)},
            {one, one}};
  }
};
} // namespace

/// Its part of each result; sums are zeros.
Values RowBlock::begin(ValueRange outs) const {
  Values parts;
  for (auto [made, out] : llvm::zip_equal(results, outs)) {
    Type element = Recurrence::type(out).getElementType();
    Slice slice = sliceOf(made);
    SmallVector<int64_t> shape = {size};
    if (!made.isSum)
      shape.insert(shape.begin(),
                   getConstantIntValue(length).value_or(ShapedType::kDynamic));
    Value part = tensor::ExtractSliceOp::create(
        t.b, t.loc, RankedTensorType::get(shape, element), out, slice.offsets,
        slice.sizes, slice.strides);
    if (made.isSum)
      part =
          linalg::FillOp::create(t.b, t.loc, zerosOf(t.b, t.loc, element), part)
              .getResult(0);
    parts.push_back(part);
  }
  return parts;
}

/// The rows [from, to) of the block, so many at a time. Where the last may not
/// be as many, rows are gathered.
Values RowBlock::overTiles(Value from, Value to, int64_t tile, bool gathers,
                           ValueRange parts) const {
  return t.loop(from, to, tile, parts, [&](Value at, ValueRange carried) {
    Part part = {t,       tile,
                 {size},  arith::AddIOp::create(t.b, t.loc, first, at),
                 channel, Value()};
    Value local;
    if (gathers) {
      auto numbered = [&](Value from) {
        return part.indices({}, [&](ScalarBuilder &s, ValueRange) -> Value {
          Value i = linalg::IndexOp::create(s.builder, s.loc, 0);
          return orNone(s, isBelow(s, plus(s, i, at), to), plus(s, i, from));
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
    OpFoldResult one = t.b.getIndexAttr(1);
    for (auto [made, value, into] : llvm::zip_equal(results, found, carried)) {
      if (made.isSum)
        continue;
      if (gathers)
        value = block::ScatterOp::create(t.b, t.loc, into.getType(), value,
                                         local, into);
      else
        value = tensor::InsertSliceOp::create(
            t.b, t.loc, value, into,
            ArrayRef<OpFoldResult>{at, t.b.getIndexAttr(0)},
            ArrayRef<OpFoldResult>{t.b.getIndexAttr(tile),
                                   t.b.getIndexAttr(size)},
            ArrayRef<OpFoldResult>{one, one});
    }
    return found;
  });
}

void RowBlock::finish(ValueRange parts, ValueRange outs) const {
  for (auto [made, part, out] : llvm::zip_equal(results, parts, outs)) {
    Slice slice = sliceOf(made);
    tensor::ParallelInsertSliceOp::create(t.b, t.loc, part, out, slice.offsets,
                                          slice.sizes, slice.strides);
  }
}

/// Leaves of the sums those of the blocks that there are.
static void cutSums(OpBuilder &b, Location loc, ArrayRef<Made> results,
                    OpFoldResult blocks, int64_t channels, Values &values) {
  if (getConstantIntValue(blocks))
    return;
  for (auto [made, value] : llvm::zip_equal(results, values))
    if (made.isSum)
      value = tensor::ExtractSliceOp::create(
          b, loc, value, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
          ArrayRef<OpFoldResult>{blocks, b.getIndexAttr(channels)},
          SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
}

Values overParts(OpBuilder &b, Location loc, FloatType wide, OpFoldResult rows,
                 int64_t channels, ArrayRef<Made> results, PartBody body) {
  Tiles t(b, loc, wide);
  Cutting cutting(b, loc, rows, llvm::any_of(results, [](const Made &made) {
                    return made.isSum;
                  }));
  int64_t size = channelsOfBlock(channels), tile = cutting.tile;
  SmallVector<Value> outs;
  for (const Made &made : results)
    outs.push_back(made.empty);
  auto forall = scf::ForallOp::create(
      b, loc,
      ArrayRef<OpFoldResult>{cutting.blocks, b.getIndexAttr(channels / size)},
      outs, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value channel =
      arith::MulIOp::create(b, loc, forall.getInductionVar(1), t.index(size));
  Value number = forall.getInductionVar(0), first = cutting.first(number);
  RowBlock block = {
      t, results, body, number, first, channel, cutting.length(first), size};
  Values parts = block.begin(forall.getRegionIterArgs());
  Value end = block.end();
  if (cutting.known) {
    parts = block.overTiles(t.index(0), end, tile, cutting.gathers, parts);
  } else {
    // Where there are few rows, as in decoding, most of a tile would be none.
    IndexMath math(b, loc);
    OpFoldResult length = block.length;
    Value whole =
        cast<Value>(math.sub(length, math.rem(length, math.number(tile))));
    parts = block.overTiles(t.index(0), whole, tile, /*gathers=*/false, parts);
    parts = block.overTiles(whole, end, fewRows, /*gathers=*/true, parts);
  }
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  block.finish(parts, forall.getRegionIterArgs());
  b.setInsertionPointAfter(forall);
  Values made(forall.getResults());
  cutSums(b, loc, results, cutting.blocks, channels, made);
  return made;
}

Value sumOfBlocks(OpBuilder &b, Location loc, Value x) {
  RankedTensorType type = Recurrence::type(x);
  if (type.hasStaticShape())
    return sumOver(b, loc, x, 0);
  auto element = cast<FloatType>(type.getElementType());
  int64_t channels = type.getDimSize(1), size = channelsOfBlock(channels);
  Tiles t(b, loc, element);
  Value empty = t.empty({channels});
  Value count = tensor::DimOp::create(b, loc, x, 0);
  auto forall = scf::ForallOp::create(
      b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(channels / size)}, empty,
      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  OpFoldResult one = b.getIndexAttr(1), width = b.getIndexAttr(size);
  Value channel =
      arith::MulIOp::create(b, loc, forall.getInductionVar(0), t.index(size));
  auto own = RankedTensorType::get({size}, element);
  SmallVector<OpFoldResult> at = {channel}, sizes = {width}, strides = {one};
  Value sum = tensor::ExtractSliceOp::create(
      b, loc, own, forall.getRegionIterArgs()[0], at, sizes, strides);
  sum = linalg::FillOp::create(b, loc, zerosOf(b, loc, element), sum)
            .getResult(0);
  sum = t.loop(t.index(0), count, 1, sum,
               [&](Value block, ValueRange carried) -> Values {
                 Value found = tensor::ExtractSliceOp::create(
                     b, loc, own, x, ArrayRef<OpFoldResult>{block, channel},
                     ArrayRef<OpFoldResult>{one, width},
                     ArrayRef<OpFoldResult>{one, one});
                 return t.generic({{found, "u"}}, {{carried[0], "u"}},
                                  [](ScalarBuilder &s, ValueRange e) -> Values {
                                    return {s.add(e[1], e[0])};
                                  });
               })[0];
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, sum, forall.getRegionIterArgs()[0], at, sizes, strides);
  return forall.getResult(0);
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

StatePlaces statesIn(Part &part, const Conv &conv) {
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
    // Whatever the starts are, these are rows that there are.
    auto startOf = [&](Value sequence) {
      Value found = tensor::EmptyOp::create(
          part.t.b, conv.loc, part.count,
          Recurrence::type(conv.starts).getElementType());
      found = block::GatherOp::create(part.t.b, conv.loc, found.getType(),
                                      conv.starts, sequence, found);
      return made({{found, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        Value x = e[0];
        if (!x.getType().isIndex())
          x = arith::IndexCastOp::create(s.builder, s.loc,
                                         s.builder.getIndexType(), x);
        x = arith::MaxSIOp::create(s.builder, s.loc, x, constant(s, 0));
        return arith::MinSIOp::create(s.builder, s.loc, x,
                                      number(s, conv.rows));
      });
    };
    own.first = startOf(own.sequence);
    Value next =
        made({{rows, "t"}, {own.sequence, "t"}},
             [&](ScalarBuilder &s, ValueRange e) -> Value {
               return orNone(s, isAtLeast(s, e[0], 0), plus(s, e[1], 1));
             });
    own.length =
        made({{own.first, "t"}, {startOf(next), "t"}},
             [&](ScalarBuilder &s, ValueRange e) -> Value {
               Value end = arith::MaxSIOp::create(s.builder, s.loc, e[1], e[0]);
               return minus(s, end, e[0]);
             });
    return own;
  }
  own.first =
      made({{own.sequence, "t"}}, [&](ScalarBuilder &s, ValueRange e) -> Value {
        return arith::MulIOp::create(s.builder, s.loc, e[0],
                                     number(s, conv.tokens));
      });
  own.length = made({}, [&](ScalarBuilder &s, ValueRange) -> Value {
    return number(s, conv.tokens);
  });
  return own;
}

//===----------------------------------------------------------------------===//
// Packed sequences
//===----------------------------------------------------------------------===//

namespace {

/// A number of each row that all starts of sequences together say.
struct PlaceByStarts {
  OpFoldResult first;
  /// What a start, of a sequence that has `begun`, adds to the number so far.
  Value (*next)(ScalarBuilder &, const Conv &, Value so, Value start,
                Value begun);
  Value (*place)(ScalarBuilder &, const Conv &, Value row, Value found);
};

template <typename Op> Value made(ScalarBuilder &s, Value x, Value y) {
  return Op::create(s.builder, s.loc, x, y);
}

} // namespace

/// Found once for all channels: each row looks at all starts.
static Value lookedUp(OpBuilder &b, const Conv &conv,
                      const PlaceByStarts &wanted) {
  Value entries = getValueOrCreateConstantIndexOp(
      b, conv.loc, tensor::getMixedSize(b, conv.loc, conv.starts, 0));
  Value empty = tensor::EmptyOp::create(
      b, conv.loc, {conv.rows, b.getIndexAttr(1)}, b.getIndexType());
  auto ofPart = [&](Part &part, ValueRange) -> Values {
    Tiles &t = part.t;
    Value rows = part.rowNumbers();
    Value first = part.indices({}, [&](ScalarBuilder &s, ValueRange) {
      return number(s, wanted.first);
    });
    auto add = [&](Value i, ValueRange so) -> Values {
      Value start = tensor::ExtractOp::create(b, conv.loc, conv.starts, i);
      if (!start.getType().isIndex())
        start =
            arith::IndexCastOp::create(b, conv.loc, b.getIndexType(), start);
      return t.generic({{rows, "t"}}, {{so[0], "t"}},
                       [&](ScalarBuilder &s, ValueRange e) -> Values {
                         Value begun = arith::CmpIOp::create(
                             s.builder, s.loc, arith::CmpIPredicate::sle, start,
                             e[0]);
                         return {wanted.next(s, conv, e[1], start, begun)};
                       });
    };
    Value found = t.loop(t.index(0), entries, 1, first, add)[0];
    Value place = part.indices({{rows, "t"}, {found, "t"}},
                               [&](ScalarBuilder &s, ValueRange e) {
                                 return wanted.place(s, conv, e[0], e[1]);
                               });
    return {tensor::ExpandShapeOp::create(
        b, conv.loc, RankedTensorType::get({part.count, 1}, b.getIndexType()),
        place, ArrayRef<ReassociationIndices>{{0, 1}})};
  };
  Value all = overParts(b, conv.loc, conv.wide, conv.rows, /*channels=*/1,
                        {{empty, false}}, ofPart)[0];
  return tensor::CollapseShapeOp::create(
      b, conv.loc, all, ArrayRef<ReassociationIndices>{{0, 1}});
}

// Whatever the starts are, a row's sequence is one that there is, and it begins
// at the row or before it and ends behind it.
Places placesOfTokens(OpBuilder &b, const Conv &conv) {
  if (!conv.starts)
    return {};
  Places places;
  places.sequence = lookedUp(
      b, conv,
      {b.getIndexAttr(-1),
       [](ScalarBuilder &s, const Conv &, Value so, Value, Value begun) {
         return plus(s, so, s.select(begun, constant(s, 1), constant(s, 0)));
       },
       [](ScalarBuilder &s, const Conv &conv, Value, Value found) {
         Value last = plus(s, number(s, conv.sequences), -1);
         return made<arith::MaxSIOp>(s, made<arith::MinSIOp>(s, found, last),
                                     constant(s, 0));
       }});
  places.position = lookedUp(
      b, conv,
      {b.getIndexAttr(0),
       [](ScalarBuilder &s, const Conv &, Value so, Value start, Value begun) {
         return made<arith::MaxSIOp>(s, so,
                                     s.select(begun, start, constant(s, 0)));
       },
       [](ScalarBuilder &s, const Conv &, Value row, Value found) {
         return minus(s, row, found);
       }});
  places.left =
      lookedUp(b, conv,
               {conv.rows,
                [](ScalarBuilder &s, const Conv &conv, Value so, Value start,
                   Value begun) {
                  return made<arith::MinSIOp>(
                      s, so, s.select(begun, number(s, conv.rows), start));
                },
                [](ScalarBuilder &s, const Conv &, Value row, Value found) {
                  return plus(s, minus(s, found, row), -1);
                }});
  return places;
}

} // namespace drawloom::linrec::shortconv
