//===- HeadBlocks.cpp - the block of one head of one sequence -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Schedule/HeadBlocks.h"
#include "dialects/Block/Block.h"
#include "dialects/Block/SliceBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

/// Where nothing else is said. Not a matter of the number of tokens: a sequence
/// has the same bits alone and packed.
constexpr int64_t standardChunk = 32;

static FloatType elementOf(const Recurrence &form) {
  return cast<FloatType>(Recurrence::type(form.v).getElementType());
}

/// States and sums of f16 may be larger than f16 can be, so that only bf16 may
/// be multiplied.
static FloatType productType(const Recurrence &form) {
  FloatType element = elementOf(form);
  return element.isBF16() ? element : FloatType();
}

int64_t chunkOf(const Recurrence &form) {
  return form.chunk.value_or(standardChunk);
}

int64_t sequencesOf(const Recurrence &form) {
  if (!form.starts)
    return Recurrence::type(form.v).getDimSize(0);
  int64_t entries = Recurrence::type(form.starts).getDimSize(0);
  return ShapedType::isDynamic(entries) ? entries : entries - 1;
}

OpFoldResult sequencesOf(OpBuilder &b, Location loc, const Recurrence &form) {
  if (!form.starts)
    return tensor::getMixedSize(b, loc, form.v, 0);
  if (int64_t known = sequencesOf(form); !ShapedType::isDynamic(known))
    return b.getIndexAttr(known);
  // As bind-extents reads it.
  Value entries = tensor::DimOp::create(b, loc, form.starts, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  return arith::SubIOp::create(b, loc, entries, one).getResult();
}

Head::Head(OpBuilder &b, Location loc, const Recurrence &form, Value sequence,
           Value head)
    : form(form), t(b, loc, computeType(elementOf(form)), productType(form)),
      sequence(sequence), head(head) {
  batch = form.starts ? t.index(0) : sequence;
  first = t.index(0);
  all = tensor::getMixedSize(b, loc, form.v, 1);
  Value last = getValueOrCreateConstantIndexOp(b, loc, all);
  length = last;
  if (!form.starts)
    return;
  Value next = arith::AddIOp::create(b, loc, sequence, t.index(1));
  // Whatever they are, nothing outside of the operands is touched.
  auto bounded = [&](Value at, Value least) -> Value {
    Value entry = asIndex(tensor::ExtractOp::create(b, loc, form.starts, at));
    entry = arith::MaxSIOp::create(b, loc, entry, least);
    return arith::MinSIOp::create(b, loc, entry, last);
  };
  first = bounded(sequence, t.index(0));
  Value end = bounded(next, first);
  length = arith::SubIOp::create(b, loc, end, first);
}

Slice Head::rows(Value tensor) {
  RankedTensorType type = Recurrence::type(tensor);
  Slice slice;
  Value own = head;
  if (int64_t group = form.heads / type.getDimSize(2); group != 1)
    own = arith::DivUIOp::create(t.b, t.loc, head, t.index(group));
  OpFoldResult count = form.starts ? OpFoldResult(length) : all;
  slice.offsets = {batch, first, own};
  slice.sizes = {t.b.getIndexAttr(1), count, t.b.getIndexAttr(1)};
  SmallVector<int64_t> shape = {form.starts ? ShapedType::kDynamic : tokens()};
  if (type.getRank() == 4) {
    slice.offsets.push_back(t.b.getIndexAttr(0));
    slice.sizes.push_back(t.b.getIndexAttr(type.getDimSize(3)));
    shape.push_back(type.getDimSize(3));
  }
  slice.strides.assign(slice.offsets.size(), t.b.getIndexAttr(1));
  slice.type = RankedTensorType::get(shape, type.getElementType());
  return slice;
}

Slice Head::part(Value tensor) {
  RankedTensorType type = Recurrence::type(tensor);
  Slice slice;
  slice.offsets = {sequence, head};
  slice.sizes.assign(2, t.b.getIndexAttr(1));
  for (int64_t extent : type.getShape().drop_front(2)) {
    slice.offsets.push_back(t.b.getIndexAttr(0));
    slice.sizes.push_back(t.b.getIndexAttr(extent));
  }
  slice.strides.assign(slice.offsets.size(), t.b.getIndexAttr(1));
  slice.type = RankedTensorType::get(type.getShape().drop_front(2),
                                     type.getElementType());
  return slice;
}

Value Head::extract(Value tensor, const Slice &slice) {
  return tensor::ExtractSliceOp::create(t.b, t.loc, slice.type, tensor,
                                        slice.offsets, slice.sizes,
                                        slice.strides);
}

Value Head::parameter(Value tensor) {
  ArrayRef<int64_t> shape = Recurrence::type(tensor).getShape();
  Slice slice;
  slice.offsets.assign(shape.size(), t.b.getIndexAttr(0));
  slice.offsets[0] = head;
  slice.sizes = {t.b.getIndexAttr(1)};
  for (int64_t extent : shape.drop_front())
    slice.sizes.push_back(t.b.getIndexAttr(extent));
  slice.strides.assign(shape.size(), t.b.getIndexAttr(1));
  slice.type = RankedTensorType::get(shape.drop_front(),
                                     Recurrence::type(tensor).getElementType());
  return t.convert(extract(tensor, slice), t.element);
}

void Head::takeOperands() {
  for (Value operand : {form.q, form.k, form.v, form.decay, form.beta,
                        form.erase, form.lowrank})
    if (operand && Recurrence::type(operand).getRank() >= 3)
      own[operand] = extract(operand, rows(operand));
  if (form.bonus)
    bonus = parameter(form.bonus);
  if (form.rates)
    rates = parameter(form.rates);
  if (form.decayKind == DecayKind::Constant) {
    Value entry = tensor::ExtractOp::create(t.b, t.loc, form.decay, head);
    constantDecay = ScalarBuilder(t.b, t.loc).convert(entry, t.element);
  }
}

Value Head::rowNumbers(Value at) {
  Value into =
      tensor::EmptyOp::create(t.b, t.loc, {chunk()}, t.b.getIndexType());
  Value none = t.index(-1);
  return t.generic(
      {}, {{into, "c"}}, [&](ScalarBuilder &s, ValueRange) -> Tiles::Values {
        Value i = linalg::IndexOp::create(s.builder, s.loc, 0);
        Value token = arith::AddIOp::create(s.builder, s.loc, at, i);
        Value inside = arith::CmpIOp::create(
            s.builder, s.loc, arith::CmpIPredicate::slt, token, length);
        return {s.select(inside, token, none)};
      })[0];
}

Slice Head::chunkRows(Value own, Value at) {
  RankedTensorType type = Recurrence::type(own);
  Slice slice;
  slice.offsets.assign(type.getRank(), t.b.getIndexAttr(0));
  slice.offsets[0] = at;
  slice.strides.assign(type.getRank(), t.b.getIndexAttr(1));
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = chunk();
  for (int64_t extent : shape)
    slice.sizes.push_back(t.b.getIndexAttr(extent));
  slice.type = RankedTensorType::get(shape, type.getElementType());
  return slice;
}

Value Head::read(Value own, const Place &place) {
  Slice slice = chunkRows(own, place.at);
  Value tile;
  auto part = own.getDefiningOp<tensor::ExtractSliceOp>();
  // What is the same for all tokens, however many there are, is not in memory.
  if (auto fill = part && !form.starts && !part.getType().hasStaticShape()
                      ? part.getSource().getDefiningOp<linalg::FillOp>()
                      : linalg::FillOp();
      fill && place.rows) {
    Value value = ScalarBuilder(t.b, t.loc).convert(fill.value(), t.element);
    Value each = forTokens(value, place);
    if (slice.type.getRank() == 1)
      return each;
    return t.generic({{each, "c"}}, {{t.empty(slice.type.getShape()), "ck"}},
                     [](ScalarBuilder &, ValueRange e) -> Tiles::Values {
                       return {e[0]};
                     })[0];
  }
  if (place.rows)
    tile = block::GatherOp::create(
        t.b, t.loc, slice.type, own, place.rows,
        tensor::EmptyOp::create(t.b, t.loc, slice.type.getShape(),
                                slice.type.getElementType()));
  else if (slice.type.getElementType() == t.element)
    // Rows together: products read them many times.
    tile = linalg::CopyOp::create(t.b, t.loc, extract(own, slice),
                                  t.empty(slice.type.getShape()))
               .getResult(0);
  else
    tile = extract(own, slice);
  return t.convert(tile, t.element);
}

Value Head::write(Value tile, Value onto, const Place &place) {
  tile =
      t.convert(tile, cast<FloatType>(Recurrence::type(onto).getElementType()));
  if (place.rows)
    return block::ScatterOp::create(t.b, t.loc, onto.getType(), tile,
                                    place.rows, onto);
  Slice slice = chunkRows(onto, place.at);
  return tensor::InsertSliceOp::create(t.b, t.loc, tile, onto, slice.offsets,
                                       slice.sizes, slice.strides);
}

Value Head::forTokens(Value value, const Place &place) {
  Value into = t.empty({chunk()});
  if (!place.rows)
    return linalg::FillOp::create(t.b, t.loc, value, into).getResult(0);
  Value zero = t.number(0), first = t.index(0);
  return t.generic({{place.rows, "c"}}, {{into, "c"}},
                   [&](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                     Value there = arith::CmpIOp::create(
                         s.builder, s.loc, arith::CmpIPredicate::sge, e[0],
                         first);
                     return {s.select(there, value, zero)};
                   })[0];
}

ChunkTiles Head::tiles(const Place &place) {
  auto of = [&](Value operand) {
    auto found = own.find(operand);
    return found == own.end() ? Value() : read(found->second, place);
  };
  ChunkTiles in;
  in.q = of(form.q), in.k = of(form.k), in.v = of(form.v);
  in.decay = constantDecay ? forTokens(constantDecay, place) : of(form.decay);
  in.beta = of(form.beta), in.erase = of(form.erase);
  in.lowrank = of(form.lowrank), in.bonus = bonus, in.rates = rates;
  return in;
}

OpFoldResult Head::mostChunks() {
  if (std::optional<int64_t> known = getConstantIntValue(all))
    return t.b.getIndexAttr(llvm::divideCeil(*known, chunk()));
  return arith::CeilDivUIOp::create(t.b, t.loc, cast<Value>(all),
                                    t.index(chunk()))
      .getResult();
}

Head::Range Head::allChunks() {
  Value width = t.index(chunk());
  Value chunks = arith::CeilDivUIOp::create(t.b, t.loc, length, width);
  Value end = arith::MulIOp::create(t.b, t.loc, chunks, width);
  // One that has no more than a chunk.
  if (tokens() > 0 && tokens() <= chunk()) {
    // A loop of one turn would be dissolved, and what both loops of a
    // gradient compute be shared: that rounds otherwise than in a longer
    // loop, but a sequence has its bits wherever it is packed.
    Value later = arith::AddIOp::create(t.b, t.loc, sequence, head);
    later = arith::AddIOp::create(t.b, t.loc, later, end);
    end = arith::MinSIOp::create(t.b, t.loc, end, later);
  }
  return {Value(), end};
}

Tiles::Values Head::overChunks(Range range, ValueRange carried, bool backward,
                               Step step) {
  if (!range.end)
    range = allChunks();
  int64_t size = chunk();
  // Where the last chunk may not be full, all are gathered: the same code for
  // all, and compiled once.
  bool isOpen = ShapedType::isDynamic(tokens());
  bool gathers = form.starts || (isOpen ? size > 1 : tokens() % size != 0);
  Value width = t.index(size);
  Value begin = range.begin ? range.begin : t.index(0);
  return t.loop(
      begin, range.end, size, carried, [&](Value at, ValueRange tiles) {
        if (backward) {
          if (range.begin)
            at = arith::SubIOp::create(t.b, t.loc, at, range.begin);
          Value left = arith::SubIOp::create(t.b, t.loc, range.end, at);
          at = arith::SubIOp::create(t.b, t.loc, left, width);
        }
        return step({at, gathers ? rowNumbers(at) : Value()}, tiles);
      });
}

Tiles::Values Head::overGroups(const Range &all, int64_t count,
                               ValueRange carried, bool backward,
                               GroupStep step) {
  Value width = t.index(count * chunk());
  Value groups = arith::CeilDivUIOp::create(t.b, t.loc, all.end, width);
  return t.loop(
      t.index(0), groups, 1, carried, [&](Value number, ValueRange tiles) {
        if (backward) {
          Value left = arith::SubIOp::create(t.b, t.loc, groups, number);
          number = arith::SubIOp::create(t.b, t.loc, left, t.index(1));
        }
        Value begin = arith::MulIOp::create(t.b, t.loc, number, width);
        Value end = arith::AddIOp::create(t.b, t.loc, begin, width);
        end = arith::MinSIOp::create(t.b, t.loc, end, all.end);
        return step(number, {begin, end}, tiles);
      });
}

Value Head::number(const Place &place, const Range &range) {
  Value at = place.at;
  if (range.begin)
    at = arith::SubIOp::create(t.b, t.loc, at, range.begin);
  return arith::DivUIOp::create(t.b, t.loc, at, t.index(chunk()));
}

Value Head::asIndex(Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(), value);
}

Value Head::startState(Value from, Value place) {
  if (!from)
    return linalg::FillOp::create(t.b, t.loc, t.number(0), place).getResult(0);
  return linalg::CopyOp::create(t.b, t.loc, extract(from, part(from)), place)
      .getResult(0);
}

SmallVector<Value>
overHeads(OpBuilder &b, Location loc, const Recurrence &form,
          ArrayRef<Result> results,
          llvm::function_ref<Tiles::Values(Head &, ValueRange)> body) {
  SmallVector<Value> outs;
  for (const Result &result : results)
    outs.push_back(result.empty);
  scf::ForallOp forall = block::blocksOf(
      b, loc, {sequencesOf(b, loc, form), b.getIndexAttr(form.heads)}, outs);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Head head(b, loc, form, forall.getInductionVar(0), forall.getInductionVar(1));
  SmallVector<Slice> slices;
  Tiles::Values parts;
  for (auto [result, out] :
       llvm::zip_equal(results, forall.getRegionIterArgs())) {
    slices.push_back(result.perToken ? head.rows(out) : head.part(out));
    parts.push_back(head.extract(out, slices.back()));
  }
  head.takeOperands();
  Tiles::Values written = body(head, parts);
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [tile, slice, out] :
       llvm::zip_equal(written, slices, forall.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(b, loc, tile, out, slice.offsets,
                                          slice.sizes, slice.strides);
  return SmallVector<Value>(forall.getResults());
}

Value sumOfSequences(OpBuilder &b, Location loc, Value x) {
  RankedTensorType type = Recurrence::type(x);
  ArrayRef<int64_t> own = type.getShape().drop_front(2);
  auto element = cast<FloatType>(type.getElementType());
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape().drop_front(), element);
  scf::ForallOp forall =
      block::blocksOf(b, loc, {b.getIndexAttr(type.getDimSize(1))}, empty);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Tiles t(b, loc, element);
  OpFoldResult head = forall.getInductionVar(0), one = b.getIndexAttr(1);
  auto tile = RankedTensorType::get(own, element);
  SmallVector<OpFoldResult> place = {head}, sizes = {one};
  place.append(own.size(), b.getIndexAttr(0));
  llvm::append_range(sizes, getAsIndexOpFoldResult(b.getContext(), own));
  SmallVector<OpFoldResult> strides(place.size() + 1, one);
  ArrayRef<OpFoldResult> fewer = ArrayRef(strides).drop_front();
  Value sum = tensor::ExtractSliceOp::create(
      b, loc, tile, forall.getRegionIterArgs()[0], place, sizes, fewer);
  sum = linalg::FillOp::create(b, loc, t.number(0), sum).getResult(0);
  Value count = getValueOrCreateConstantIndexOp(
      b, loc, tensor::getMixedSize(b, loc, x, 0));
  StringRef loops = StringRef("kv").take_front(own.size());
  Tiles::Values sums = t.loop(
      t.index(0), count, 1, sum,
      [&](Value sequence, ValueRange carried) -> Tiles::Values {
        SmallVector<OpFoldResult> from = {sequence}, extents = {one};
        llvm::append_range(from, place);
        llvm::append_range(extents, sizes);
        Value found = tensor::ExtractSliceOp::create(b, loc, tile, x, from,
                                                     extents, strides);
        return t.generic({{found, loops}}, {{carried[0], loops}},
                         [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                           return {s.add(e[1], e[0])};
                         });
      });
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, sums[0], forall.getRegionIterArgs()[0], place, sizes, fewer);
  return forall.getResult(0);
}

Value sumOfHeads(OpBuilder &b, Location loc, Value x, int64_t shared,
                 FloatType element) {
  RankedTensorType type = Recurrence::type(x);
  int64_t group = type.getDimSize(2) / shared, size = type.getDimSize(3);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  OpFoldResult tokens = sizes[1], none = b.getIndexAttr(0),
               one = b.getIndexAttr(1);
  sizes[2] = b.getIndexAttr(shared);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  scf::ForallOp forall = block::blocksOf(b, loc, {sizes[0], sizes[2]}, empty);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Tiles t(b, loc, cast<FloatType>(type.getElementType()));
  Value sequence = forall.getInductionVar(0), head = forall.getInductionVar(1);
  SmallVector<OpFoldResult> strides(4, one);
  SmallVector<OpFoldResult> place = {sequence, none, head, none},
                            extents = {one, tokens, one, b.getIndexAttr(size)};
  Value own = tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get({type.getDimSize(1), size}, element),
      forall.getRegionIterArgs()[0], place, extents, strides);
  Value first = arith::MulIOp::create(b, loc, head, t.index(group));
  Value found = tensor::ExtractSliceOp::create(
      b, loc,
      RankedTensorType::get({type.getDimSize(1), group, size}, t.element), x,
      {sequence, none, first, none},
      {one, tokens, b.getIndexAttr(group), b.getIndexAttr(size)}, strides);
  Tiles::Values sums =
      t.loop(t.index(0), getValueOrCreateConstantIndexOp(b, loc, tokens), 1,
             own, [&](Value token, ValueRange carried) -> Tiles::Values {
               Value sum = t.generic(
                   {{t.entry(found, token), "gk"}}, {{t.zeros({size}), "k"}},
                   [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                     return {s.add(e[1], e[0])};
                   })[0];
               return {t.withEntry(carried[0], token, t.convert(sum, element))};
             });
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, sums[0], forall.getRegionIterArgs()[0], place, extents, strides);
  return forall.getResult(0);
}

} // namespace drawloom::linrec
