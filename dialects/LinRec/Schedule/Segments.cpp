//===- Segments.cpp - sequences cut into parts ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a segment of a sequence does to the state is an affine map: it gives
//
//   S_out = M S_in + E
//
// E is its final state for S_in = 0. M is a factor of each element where
// nothing is erased, and a matrix [K, K] where something is: the final state of
// the same recurrence that begins with the identity and writes nothing. So
// there are three rounds, the first and the last of which go over all segments
// side by side: E and M of each; the states between them, in order; the
// outputs.
//
// Gradients go the other way, by M^T. E' of a segment, what its own outputs
// give for the gradient of its initial state, does not depend on states.
//
// Sources: gated linear attention, Yang et al., arXiv 2312.06635, section 4
// (the materialised form); the affine combination is that of every parallel
// scan.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Schedule/Segments.h"
#include "dialects/LinRec/Schedule/HeadBlocks.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// The sequences of an op, cut.
class Cut {
public:
  template <typename Op>
  Cut(OpBuilder &b, Op op)
      : b(b), loc(op.getLoc()), whole(op),
        wide(computeType(Recurrence::type(op.getV()).getElementType())) {
    RankedTensorType v = Recurrence::type(whole.v);
    batch = v.getDimSize(0), tokens = v.getDimSize(1);
    int64_t chunk = chunkOf(whole);
    int64_t chunks = llvm::divideCeil(tokens, chunk);
    length = llvm::divideCeil(chunks, *whole.segments) * chunk;
    // Not more than there is work for.
    segments = llvm::divideCeil(tokens, length);
    if (tokens == segments * length)
      return;
    // Then they are sequences of different lengths, packed.
    SmallVector<int64_t> entries = {0};
    for (int64_t i = 0; i < batch; ++i)
      for (int64_t j = 1; j <= segments; ++j)
        entries.push_back(i * tokens + std::min(j * length, tokens));
    auto type = RankedTensorType::get({static_cast<int64_t>(entries.size())},
                                      b.getI64Type());
    starts = arith::ConstantOp::create(
        b, loc, type, DenseIntElementsAttr::get(type, entries));
  }

  /// [B, T, ...] as the sequences of segments.
  Value ofTokens(Value x) {
    SmallVector<int64_t> shape(Recurrence::type(x).getShape());
    shape[0] = starts ? 1 : batch * segments;
    shape[1] = starts ? batch * tokens : length;
    return reshaped(b, loc, x, shape);
  }
  Value whether(Value x, bool perToken) {
    return x && perToken ? ofTokens(x) : x;
  }

  SmallVector<int64_t> stateShape(int64_t sequences, int64_t values) {
    return {sequences, whole.heads, whole.keySize, values};
  }
  int64_t sequences() const { return batch * segments; }

  /// A scan of the segments from the given states, and what it is made of.
  template <typename Op> ScanOp scan(Op op, Value v, Value initial) {
    SmallVector<Value> x;
    for (auto [operand, perToken] : whole.perToken())
      x.push_back(whether(operand, perToken));
    int64_t heads = Recurrence::type(v).getDimSize(2);
    // Of fewer heads than the op's, outputs are nobody's.
    if (heads != whole.heads)
      x[0] = x[1];
    auto state = RankedTensorType::get(
        {sequences(), heads, whole.keySize, Recurrence::type(v).getDimSize(3)},
        wide);
    return ScanOp::create(
        b, loc, v.getType(), state, x[0], x[1], v, x[3], x[4], x[5], x[6], x[7],
        x[8], initial, starts, scale(), op.getDecayAlongValuesAttr(),
        op.getEraseBeforeDecayAttr(), op.getDecayBoundAttr(), op.getChunkAttr(),
        oneSegment(), /*value_blocks=*/IntegerAttr(),
        /*checkpoint_interval=*/IntegerAttr(),
        /*steps_per_token=*/IntegerAttr());
  }
  ScanBwdOp gradient(ScanBwdOp op, Value initial, Value dFinal) {
    SmallVector<Value> x;
    SmallVector<Type> types;
    for (auto [operand, perToken] : whole.perToken()) {
      x.push_back(whether(operand, perToken));
      if (operand)
        types.push_back(x.back().getType());
    }
    if (!whole.initial)
      types.emplace_back();
    types.back() = initial.getType();
    return ScanBwdOp::create(
        b, loc, types, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8],
        initial, starts, ofTokens(op.getDO()), dFinal, scale(),
        op.getDecayAlongValuesAttr(), op.getEraseBeforeDecayAttr(),
        op.getDecayBoundAttr(), op.getChunkAttr(), oneSegment(),
        /*value_blocks=*/IntegerAttr(), op.getCheckpointIntervalAttr(),
        /*steps_per_token=*/IntegerAttr());
  }
  /// The same without segments.
  template <typename Op> SmallVector<Value> uncut(Op op) {
    Op same = cast<Op>(b.clone(*op));
    same.setSegments(1);
    return SmallVector<Value>(same->getResults());
  }
  /// What is cut is not cut again, but for blocks of values that fit.
  IntegerAttr oneSegment() { return b.getI64IntegerAttr(1); }
  /// The scale is that of the whole op, whatever the sizes of a part are.
  FloatAttr scale() { return b.getF64FloatAttr(whole.scale); }

  /// M of each segment: [N, H', K, K] where something is erased, H' being the
  /// heads that differ in it, else factors [N, H, K], [N, H, V] or
  /// [N, H, K, V]; null where all are 1.
  template <typename Op> Value transitions(Op op);
  Value decays();

  /// The states before each segment, and the one behind all, from `start`
  /// (null: 0) on: S_{i+1} = M_i S_i + E_i. Backward, those behind each segment
  /// and the one before all: S_{i-1} = M_i^T S_i + E_i.
  std::pair<Value, Value> fold(Value transition, Value ends, Value start,
                               bool backward);

private:
  /// The entries [count, ...] or [...] of a head, from `at` on; of the other
  /// dimensions what `within` says, by offset and size, or all.
  Slice ofHead(Tiles &t, Value head, Value tensor, Value at, int64_t count,
               ArrayRef<std::pair<int64_t, int64_t>> within);
  /// `state` decayed (null: not at all), plus the end of a segment.
  Value addDecayed(Tiles &t, Value end, Value decays, Value state);
  /// The identity for each segment and each of `heads`.
  Value identities(int64_t heads);
  /// How many heads have a matrix of their own.
  int64_t headsOfMatrices() const;

public:
  OpBuilder &b;
  Location loc;
  Recurrence whole;
  FloatType wide;
  int64_t batch, tokens, segments, length;
  Value starts;
};

int64_t Cut::headsOfMatrices() const {
  if (whole.decayKind == DecayKind::Constant)
    return whole.heads;
  int64_t heads = 1;
  for (Value x : {whole.k, whole.decay, whole.beta, whole.erase, whole.lowrank})
    if (x)
      heads = std::lcm(heads, Recurrence::type(x).getDimSize(2));
  return heads;
}

Value Cut::identities(int64_t heads) {
  SmallVector<int64_t> shape = {sequences(), heads, whole.keySize,
                                whole.keySize};
  Value empty = tensor::EmptyOp::create(b, loc, shape, wide);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), ValueRange(), empty,
             b.getMultiDimIdentityMap(4),
             SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
             [&](OpBuilder &nested, Location at, ValueRange) {
               Value i = linalg::IndexOp::create(nested, at, 2);
               Value j = linalg::IndexOp::create(nested, at, 3);
               Value same = arith::CmpIOp::create(
                   nested, at, arith::CmpIPredicate::eq, i, j);
               Value x = arith::UIToFPOp::create(nested, at, wide, same);
               linalg::YieldOp::create(nested, at, x);
             })
      .getResult(0);
}

template <typename Op> Value Cut::transitions(Op op) {
  if (!whole.erases())
    return whole.decay ? decays() : Value();
  SmallVector<int64_t> shape(Recurrence::type(whole.v).getShape());
  shape[2] = headsOfMatrices(), shape[3] = whole.keySize;
  Value nothing =
      zeros(b, loc, getAsIndexOpFoldResult(b.getContext(), shape), wide);
  FloatType element =
      cast<FloatType>(Recurrence::type(whole.v).getElementType());
  nothing = Tiles(b, loc, wide).convert(nothing, element);
  return scan(op, ofTokens(nothing), identities(shape[2])).getFinal();
}

/// exp of the sum of each segment's log-decays.
Value Cut::decays() {
  Recurrence form = whole;
  form.q = ofTokens(whole.q), form.k = ofTokens(whole.k);
  form.v = ofTokens(whole.v), form.starts = starts;
  form.decay = whether(whole.decay, whole.decayKind != DecayKind::Constant);
  form.initial = form.bonus = Value();
  SmallVector<int64_t> own = {whole.keySize};
  if (whole.decayKind == DecayKind::Value)
    own = {whole.valueSize};
  if (whole.rates)
    own = {whole.keySize, whole.valueSize};
  SmallVector<int64_t> shape = {sequences(), whole.heads};
  shape.append(own);
  Value empty = tensor::EmptyOp::create(b, loc, shape, wide);
  return overHeads(
      b, loc, form, {{empty, false}},
      [&](Head &head, ValueRange parts) -> Tiles::Values {
        Tiles &t = head.t;
        Value sums = head.startState(Value(), parts[0]);
        sums = head.overChunks(
            {sums}, /*backward=*/false,
            [&](const Head::Place &place, ValueRange tiles) -> Tiles::Values {
              ChunkTiles in = head.tiles(place);
              SmallVector<Indexed> inputs = {{in.decay, "c"}};
              StringRef kept = "x";
              if (whole.rates) {
                inputs = {{in.decay, "cv"}, {in.rates, "kv"}};
                kept = "kv";
              } else if (Tiles::shape(in.decay).size() == 2) {
                inputs = {{in.decay, "cx"}};
              }
              return t.generic(
                  inputs, {{tiles[0], kept}},
                  [&](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                    Value g = whole.rates ? s.mul(e[0], e[1]) : e[0];
                    g = s.minimum(g, s.constant(0, g));
                    return {s.add(e.back(), g)};
                  });
            })[0];
        return {t.map(
            sums, [](ScalarBuilder &s, ValueRange e) { return s.exp(e[0]); })};
      })[0];
}

/// Into how many parts the rows and columns of a matrix of this size are cut:
/// one of 64 KiB fits into the memory of any block.
static int64_t partsOfMatrix(int64_t size) {
  constexpr int64_t most = 128, least = 16;
  int64_t parts = llvm::divideCeil(size, most);
  while (size % parts != 0)
    ++parts;
  return size / parts < least ? 1 : parts;
}

Slice Cut::ofHead(Tiles &t, Value head, Value tensor, Value at, int64_t count,
                  ArrayRef<std::pair<int64_t, int64_t>> within) {
  RankedTensorType type = Recurrence::type(tensor);
  if (int64_t shared = whole.heads / type.getDimSize(1); shared > 1)
    head = arith::DivUIOp::create(b, loc, head, t.index(shared));
  Slice slice;
  slice.offsets = {at, head};
  slice.sizes = {b.getIndexAttr(count), b.getIndexAttr(1)};
  SmallVector<int64_t> shape;
  if (count != 1)
    shape.push_back(count);
  for (auto [dim, extent] : llvm::enumerate(type.getShape().drop_front(2))) {
    auto [offset, size] = dim < within.size()
                              ? within[dim]
                              : std::pair<int64_t, int64_t>(0, extent);
    slice.offsets.push_back(b.getIndexAttr(offset));
    slice.sizes.push_back(b.getIndexAttr(size));
    shape.push_back(size);
  }
  slice.strides.assign(slice.offsets.size(), b.getIndexAttr(1));
  slice.type = RankedTensorType::get(shape, type.getElementType());
  return slice;
}

Value Cut::addDecayed(Tiles &t, Value end, Value decays, Value state) {
  if (!decays)
    return t.generic({{end, "kv"}}, {{state, "kv"}},
                     [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                       return {s.add(e[1], e[0])};
                     })[0];
  StringRef loops = whole.rates                           ? "kv"
                    : whole.decayKind == DecayKind::Value ? "v"
                                                          : "k";
  return t.generic({{end, "kv"}, {decays, loops}}, {{state, "kv"}},
                   [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                     return {s.fma(e[1], e[2], e[0])};
                   })[0];
}

std::pair<Value, Value> Cut::fold(Value transition, Value ends, Value start,
                                  bool backward) {
  SmallVector<int64_t> all = stateShape(sequences(), whole.valueSize);
  SmallVector<int64_t> of = stateShape(batch, whole.valueSize);
  int64_t parts = whole.erases() ? partsOfMatrix(whole.keySize) : 1;
  int64_t rows = whole.keySize / parts;
  Value between = tensor::EmptyOp::create(b, loc, all, wide);
  Value last = tensor::EmptyOp::create(b, loc, of, wide);
  auto forall = scf::ForallOp::create(
      b, loc,
      ArrayRef<OpFoldResult>{b.getIndexAttr(batch),
                             b.getIndexAttr(whole.heads)},
      ValueRange{between, last}, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Tiles t(b, loc, wide);
  Value sequence = forall.getInductionVar(0);
  Value first = arith::MulIOp::create(b, loc, sequence, t.index(segments));
  auto slice = [&](Value tensor, Value at, int64_t count,
                   ArrayRef<std::pair<int64_t, int64_t>> within = {}) {
    return ofHead(t, forall.getInductionVar(1), tensor, at, count, within);
  };
  auto extract = [&](Value tensor, const Slice &part) -> Value {
    return tensor::ExtractSliceOp::create(
        b, loc, part.type, tensor, part.offsets, part.sizes, part.strides);
  };
  // Part after part, the rows of all states between, then those of the state.
  SmallVector<Slice> slices;
  SmallVector<BlockArgument> outs;
  Tiles::Values carried;
  for (int64_t p = 0; p < parts; ++p) {
    outs.push_back(forall.getRegionIterArgs()[0]);
    slices.push_back(slice(outs.back(), first, segments, {{p * rows, rows}}));
    carried.push_back(extract(outs.back(), slices.back()));
  }
  for (int64_t p = 0; p < parts; ++p) {
    outs.push_back(forall.getRegionIterArgs()[1]);
    slices.push_back(slice(outs.back(), sequence, 1, {{p * rows, rows}}));
    Value state = extract(outs.back(), slices.back());
    if (start) {
      Value given =
          extract(start, slice(start, sequence, 1, {{p * rows, rows}}));
      state = linalg::CopyOp::create(b, loc, given, state).getResult(0);
    } else {
      state = linalg::FillOp::create(b, loc, t.number(0), state).getResult(0);
    }
    carried.push_back(state);
  }
  Tiles::Values folded = t.loop(
      t.index(0), t.index(segments), 1, carried,
      [&](Value i, ValueRange tiles) -> Tiles::Values {
        if (backward)
          i = arith::SubIOp::create(b, loc, t.index(segments - 1), i);
        Value at = arith::AddIOp::create(b, loc, first, i);
        ValueRange states = tiles.drop_front(parts);
        Tiles::Values next;
        for (int64_t p = 0; p < parts; ++p)
          next.push_back(t.withEntry(tiles[p], i, states[p]));
        Tiles::Values before;
        if (whole.erases())
          for (Value state : states)
            before.push_back(linalg::CopyOp::create(
                                 b, loc, state, t.empty(Tiles::shape(state)))
                                 .getResult(0));
        for (int64_t p = 0; p < parts; ++p) {
          std::pair<int64_t, int64_t> own = {p * rows, rows};
          Value end = extract(ends, slice(ends, at, 1, own));
          if (whole.erases()) {
            Value sum =
                linalg::CopyOp::create(b, loc, end, states[p]).getResult(0);
            for (int64_t j = 0; j < parts; ++j) {
              std::pair<int64_t, int64_t> other = {j * rows, rows};
              Value m =
                  extract(transition,
                          backward ? slice(transition, at, 1, {other, own})
                                   : slice(transition, at, 1, {own, other}));
              sum = t.product({m, backward ? "jk" : "kj"}, {before[j], "jv"},
                              {sum, "kv"});
            }
            next.push_back(sum);
            continue;
          }
          Value m;
          if (transition)
            m = extract(transition, slice(transition, at, 1));
          next.push_back(addDecayed(t, end, m, states[p]));
        }
        return next;
      });
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [tile, part, out] : llvm::zip_equal(folded, slices, outs))
    tensor::ParallelInsertSliceOp::create(b, loc, tile, out, part.offsets,
                                          part.sizes, part.strides);
  return {forall.getResult(0), forall.getResult(1)};
}

/// The states before the segments, and the last one.
template <typename Op>
std::pair<Value, Value> statesBetween(Cut &cut, Op op, Value transition) {
  Value v = cut.ofTokens(op.getV());
  Value ends = cut.scan(op, v, /*initial=*/Value()).getFinal();
  return cut.fold(transition, ends, cut.whole.initial, /*backward=*/false);
}

} // namespace

SmallVector<Value> scanInSegments(OpBuilder &b, ScanOp op) {
  Cut cut(b, op);
  if (cut.segments == 1)
    return cut.uncut(op);
  auto [initials, final] = statesBetween(cut, op, cut.transitions(op));
  Value o = op.getO();
  if (!o.use_empty()) {
    Value found = cut.scan(op, cut.ofTokens(op.getV()), initials).getO();
    o = reshaped(b, op.getLoc(), found, Recurrence::type(o).getShape());
  } else {
    o = tensor::EmptyOp::create(b, op.getLoc(), Recurrence::type(o).getShape(),
                                Recurrence::type(o).getElementType());
  }
  return {o, final};
}

SmallVector<Value> differentiateInSegments(OpBuilder &b, ScanBwdOp op) {
  Cut cut(b, op);
  if (cut.segments == 1)
    return cut.uncut(op);
  Value transition = cut.transitions(op);
  Value initials = statesBetween(cut, op, transition).first;
  // Only the gradient of initial states is taken from this one.
  Value begins = cut.gradient(op, initials, Value()).getGradients().back();
  auto [dFinals, dInitial] =
      cut.fold(transition, begins, op.getDFinal(), /*backward=*/true);
  SmallVector<Value> found(
      cut.gradient(op, initials, dFinals).getGradients().drop_back());
  if (op.getInitial())
    found.push_back(dInitial);
  for (auto [value, type] : llvm::zip_equal(found, op.getResultTypes()))
    value = reshaped(b, op.getLoc(), value,
                     cast<RankedTensorType>(type).getShape());
  return found;
}

} // namespace drawloom::linrec
