//===- LinRecDecompose.cpp - recurrences as block programs ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is one head of one sequence. It goes through its tokens in chunks and
// carries the state from chunk to chunk; the last chunk is filled up with rows
// that are absent (row number -1), which are zeros and stored nowhere.
//
// The gradient goes through the chunks twice: forward, to keep the state before
// each chunk, then backward with the state's gradient.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/LinRec/Chunk.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// Tokens that are computed at a time where nothing else is said.
constexpr int64_t standardChunk = 32;

/// A part of a tensor of which every dimension but some is a single index.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  RankedTensorType type;
};

/// The block of one head of one sequence, while it is written.
class Head {
public:
  Head(OpBuilder &b, Location loc, const Recurrence &form, Value sequence,
       Value head)
      : form(form), t(b, loc,
                      computeType(cast<FloatType>(
                          Recurrence::type(form.v).getElementType()))),
        sequence(sequence), head(head) {
    batch = form.starts ? t.index(0) : sequence;
    first = t.index(0);
    length = t.index(tokens());
    if (!form.starts)
      return;
    Value next = arith::AddIOp::create(b, loc, sequence, t.index(1));
    // Whatever they are, nothing outside of the operands is touched.
    auto bounded = [&](Value at, Value least) -> Value {
      Value entry = asIndex(tensor::ExtractOp::create(b, loc, form.starts, at));
      entry = arith::MaxSIOp::create(b, loc, entry, least);
      return arith::MinSIOp::create(b, loc, entry, t.index(tokens()));
    };
    first = bounded(sequence, t.index(0));
    Value end = bounded(next, first);
    length = arith::SubIOp::create(b, loc, end, first);
  }

  int64_t tokens() const { return Recurrence::type(form.v).getDimSize(1); }
  int64_t chunk() const {
    // Not a matter of the number of tokens: a sequence has the same bits alone
    // and packed.
    return form.chunk.value_or(standardChunk);
  }
  int64_t mostChunks() const { return llvm::divideCeil(tokens(), chunk()); }

  /// This head's rows of [B, T, heads(, size)].
  Slice rows(Value tensor) {
    RankedTensorType type = Recurrence::type(tensor);
    Slice slice;
    Value own = head;
    if (int64_t group = form.heads / type.getDimSize(2); group != 1)
      own = arith::DivUIOp::create(t.b, t.loc, head, t.index(group));
    OpFoldResult count =
        form.starts ? OpFoldResult(length) : t.b.getIndexAttr(tokens());
    slice.offsets = {batch, first, own};
    slice.sizes = {t.b.getIndexAttr(1), count, t.b.getIndexAttr(1)};
    SmallVector<int64_t> shape = {form.starts ? ShapedType::kDynamic
                                              : tokens()};
    if (type.getRank() == 4) {
      slice.offsets.push_back(t.b.getIndexAttr(0));
      slice.sizes.push_back(t.b.getIndexAttr(type.getDimSize(3)));
      shape.push_back(type.getDimSize(3));
    }
    slice.strides.assign(slice.offsets.size(), t.b.getIndexAttr(1));
    slice.type = RankedTensorType::get(shape, type.getElementType());
    return slice;
  }
  /// This head's part of [N, heads, ...].
  Slice part(Value tensor) {
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
  Value extract(Value tensor, const Slice &slice) {
    return tensor::ExtractSliceOp::create(t.b, t.loc, slice.type, tensor,
                                          slice.offsets, slice.sizes,
                                          slice.strides);
  }

  /// The rows of all operands that have rows for each token, once.
  void takeOperands() {
    for (Value operand : {form.q, form.k, form.v, form.decay, form.beta,
                          form.erase, form.lowrank})
      if (operand && Recurrence::type(operand).getRank() >= 3)
        own[operand] = extract(operand, rows(operand));
    if (form.bonus) {
      RankedTensorType type = Recurrence::type(form.bonus);
      auto row = RankedTensorType::get({form.keySize}, type.getElementType());
      Value own = tensor::ExtractSliceOp::create(
          t.b, t.loc, row, form.bonus,
          ArrayRef<OpFoldResult>{head, t.b.getIndexAttr(0)},
          ArrayRef<OpFoldResult>{t.b.getIndexAttr(1),
                                 t.b.getIndexAttr(form.keySize)},
          ArrayRef<OpFoldResult>(
              SmallVector<OpFoldResult>(2, t.b.getIndexAttr(1))));
      bonus = t.convert(own, t.element);
    }
    if (form.rates) {
      Slice slice;
      slice.offsets = {head, t.b.getIndexAttr(0), t.b.getIndexAttr(0)};
      slice.sizes = {t.b.getIndexAttr(1), t.b.getIndexAttr(form.keySize),
                     t.b.getIndexAttr(form.valueSize)};
      slice.strides.assign(3, t.b.getIndexAttr(1));
      slice.type =
          RankedTensorType::get({form.keySize, form.valueSize},
                                Recurrence::type(form.rates).getElementType());
      rates = t.convert(extract(form.rates, slice), t.element);
    }
    if (form.decayKind == DecayKind::Constant) {
      Value entry = tensor::ExtractOp::create(t.b, t.loc, form.decay, head);
      constantDecay = ScalarBuilder(t.b, t.loc).convert(entry, t.element);
    }
  }

  /// Where the rows of a chunk are: a slice, or gathered.
  struct Place {
    Value at;
    Value rows; // null: `chunk()` rows from `at` on
  };

  /// Tokens [at, length) as row numbers; those past the end are -1.
  Value rowNumbers(Value at) {
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

  Slice chunkOf(Value own, Value at) {
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

  Value read(Value own, const Place &place) {
    Slice slice = chunkOf(own, place.at);
    Value tile;
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
  Value write(Value tile, Value onto, const Place &place) {
    tile = t.convert(tile,
                     cast<FloatType>(Recurrence::type(onto).getElementType()));
    if (place.rows)
      return block::ScatterOp::create(t.b, t.loc, onto.getType(), tile,
                                      place.rows, onto);
    Slice slice = chunkOf(onto, place.at);
    return tensor::InsertSliceOp::create(t.b, t.loc, tile, onto, slice.offsets,
                                         slice.sizes, slice.strides);
  }

  /// `value` for each token that there is, 0 for the others.
  Value forTokens(Value value, const Place &place) {
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

  ChunkTiles tiles(const Place &place) {
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

  /// Goes through all chunks, in or against the order of tokens.
  using Step =
      llvm::function_ref<Tiles::Values(const Place &, ValueRange carried)>;
  Tiles::Values overChunks(ValueRange carried, bool backward, Step step) {
    int64_t size = chunk();
    // Where the last chunk may not be full, all are gathered: the same code for
    // all, and compiled once.
    bool gathers = form.starts || tokens() % size != 0;
    Value width = t.index(size);
    Value chunks = arith::CeilDivUIOp::create(t.b, t.loc, length, width);
    Value end = arith::MulIOp::create(t.b, t.loc, chunks, width);
    if (mostChunks() == 1) {
      // A loop of one turn would be dissolved, and what both loops of a
      // gradient compute be shared: that rounds otherwise than in a longer
      // loop, but a sequence has its bits wherever it is packed.
      Value later = arith::AddIOp::create(t.b, t.loc, sequence, head);
      later = arith::AddIOp::create(t.b, t.loc, later, end);
      end = arith::MinSIOp::create(t.b, t.loc, end, later);
    }
    return t.loop(
        t.index(0), end, size, carried, [&](Value at, ValueRange tiles) {
          if (backward) {
            Value left = arith::SubIOp::create(t.b, t.loc, end, at);
            at = arith::SubIOp::create(t.b, t.loc, left, width);
          }
          return step({at, gathers ? rowNumbers(at) : Value()}, tiles);
        });
  }

  const Recurrence &form;
  Tiles t;
  Value sequence, head, batch, first, length;

private:
  Value asIndex(Value value) {
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(), value);
  }

  DenseMap<Value, Value> own;
  Value bonus, rates, constantDecay;
};

/// A result of the scf.forall of all heads.
struct Result {
  Value empty;
  bool perToken; // [B, T, heads(, size)], else [N, heads, ...]
};

/// Writes the scf.forall over sequences and heads. `body` gets each result's
/// part of this head and gives what it becomes.
SmallVector<Value>
overHeads(OpBuilder &b, Location loc, const Recurrence &form,
          OpFoldResult sequences, ArrayRef<Result> results,
          llvm::function_ref<Tiles::Values(Head &, ValueRange)> body) {
  SmallVector<Value> outs;
  for (const Result &result : results)
    outs.push_back(result.empty);
  auto forall = scf::ForallOp::create(
      b, loc, ArrayRef<OpFoldResult>{sequences, b.getIndexAttr(form.heads)},
      outs, /*mapping=*/std::nullopt);
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

/// A state in a place of this head: that of `from`, or zeros.
Value startState(Head &head, Value from, Value place) {
  if (!from)
    return linalg::FillOp::create(head.t.b, head.t.loc, head.t.number(0), place)
        .getResult(0);
  Value own = head.extract(from, head.part(from));
  return linalg::CopyOp::create(head.t.b, head.t.loc, own, place).getResult(0);
}

std::unique_ptr<ChunkForm> coreOf(Head &head) {
  return splitForm(head.t, head.form, head.chunk());
}

/// What an op needs beside its verifier to become a block program.
template <typename Op> LogicalResult checkStatic(Op op) {
  for (Value value : op->getOperands())
    if (!Recurrence::type(value).hasStaticShape())
      return op.emitOpError()
             << "can be compiled only for known numbers of "
             << "sequences and tokens, but an operand is " << value.getType();
  return success();
}

int64_t sequencesOf(const Recurrence &form) {
  return form.starts ? Recurrence::type(form.starts).getDimSize(0) - 1
                     : Recurrence::type(form.v).getDimSize(0);
}

} // namespace

/// Where there is no token, states stay what they are, and nothing else has
/// elements or a gradient.
static bool hasNoToken(const Recurrence &form) {
  RankedTensorType v = Recurrence::type(form.v);
  return v.getDimSize(0) == 0 || v.getDimSize(1) == 0;
}

static Value zerosOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, type,
                                   cast<TypedAttr>(b.getZeroAttr(type)));
}

FailureOr<SmallVector<Value>> ScanOp::decomposeOperation(OpBuilder &b) {
  if (failed(checkStatic(*this)))
    return failure();
  Recurrence form(*this);
  Location loc = getLoc();
  if (hasNoToken(form))
    return SmallVector<Value>{
        zerosOf(b, loc, getO().getType()),
        form.initial ? form.initial : zerosOf(b, loc, getFinal().getType())};
  auto outType = cast<RankedTensorType>(getO().getType());
  auto stateType = cast<RankedTensorType>(getFinal().getType());
  Value o = tensor::EmptyOp::create(b, loc, outType.getShape(),
                                    outType.getElementType());
  Value final = tensor::EmptyOp::create(b, loc, stateType.getShape(),
                                        stateType.getElementType());
  return overHeads(
      b, loc, form, b.getIndexAttr(sequencesOf(form)),
      {{o, true}, {final, false}},
      [&](Head &head, ValueRange parts) -> Tiles::Values {
        Value state = startState(head, form.initial, parts[1]);
        std::unique_ptr<ChunkForm> core = coreOf(head);
        return head.overChunks(
            {parts[0], state}, /*backward=*/false,
            [&](const Head::Place &place, ValueRange tiles) -> Tiles::Values {
              ChunkForm::Outcome out =
                  chunkForward(head.t, form, *core, head.tiles(place), tiles[1],
                               /*outputs=*/true);
              return {head.write(out.o, tiles[0], place), out.state};
            });
      });
}

namespace {

/// The sum of `x` over its dimension `over`, in the type of elements of `x`.
Value sumOver(OpBuilder &b, Location loc, Value x, int64_t over) {
  RankedTensorType type = Recurrence::type(x);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + over);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  return linalg::ReduceOp::create(
             b, loc, x, init, over,
             [](OpBuilder &nested, Location at, ValueRange e) {
               Value sum = arith::AddFOp::create(nested, at, e[1], e[0]);
               linalg::YieldOp::create(nested, at, sum);
             })
      .getResult(0);
}

/// The gradient of one operand on its way: what blocks write, and what becomes
/// of it.
struct Gradient {
  Value operand;
  Value ChunkGradients::*tile; // null for the initial state
  Result result;
};

} // namespace

FailureOr<SmallVector<Value>> ScanBwdOp::decomposeOperation(OpBuilder &b) {
  if (failed(checkStatic(*this)))
    return failure();
  Recurrence form(*this);
  Location loc = getLoc();
  if (hasNoToken(form)) {
    SmallVector<Value> found;
    for (Value operand : form.differentiable())
      found.push_back(operand == form.initial && getDFinal()
                          ? getDFinal()
                          : zerosOf(b, loc, operand.getType()));
    return found;
  }
  int64_t sequences = sequencesOf(form);
  FloatType wide = computeType(Recurrence::type(getV()).getElementType());
  auto empty = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    return tensor::EmptyOp::create(b, loc, shape, element);
  };

  SmallVector<Gradient> gradients;
  for (auto [operand, tile] :
       {std::pair(form.q, &ChunkGradients::q),
        std::pair(form.k, &ChunkGradients::k),
        std::pair(form.v, &ChunkGradients::v),
        std::pair(form.decay, &ChunkGradients::decay),
        std::pair(form.rates, &ChunkGradients::rates),
        std::pair(form.beta, &ChunkGradients::beta),
        std::pair(form.erase, &ChunkGradients::erase),
        std::pair(form.lowrank, &ChunkGradients::lowrank),
        std::pair(form.bonus, &ChunkGradients::bonus)}) {
    if (!operand)
      continue;
    RankedTensorType type = Recurrence::type(operand);
    SmallVector<int64_t> shape(type.getShape());
    Result result;
    result.perToken = operand != form.rates && shape.size() >= 3;
    if (operand == form.rates) {
      shape.insert(shape.begin(), sequences);
      result.empty = empty(shape, wide);
    } else if (result.perToken) {
      // Heads that share a row add up what each finds for it.
      bool shared = shape[2] != form.heads;
      shape[2] = form.heads;
      result.empty = empty(shape, shared ? wide : type.getElementType());
    } else if (tile == &ChunkGradients::decay) {
      result.empty = empty({sequences, form.heads, 1}, wide);
    } else {
      result.empty = empty({sequences, form.heads, form.keySize}, wide);
    }
    gradients.push_back({operand, tile, result});
  }
  size_t operandsInChunks = gradients.size();
  // The state's gradient is carried in a result, whether it is wanted or not.
  Value dInitial =
      empty({sequences, form.heads, form.keySize, form.valueSize}, wide);
  gradients.push_back({form.initial, nullptr, {dInitial, false}});

  SmallVector<Result> results;
  for (const Gradient &gradient : gradients)
    results.push_back(gradient.result);
  SmallVector<Value> sums = overHeads(
      b, loc, form, b.getIndexAttr(sequences), results,
      [&](Head &head, ValueRange parts) -> Tiles::Values {
        Tiles &t = head.t;
        std::unique_ptr<ChunkForm> core = coreOf(head);
        Value dO = head.extract(getDO(), head.rows(getDO()));
        // The states before each chunk, and after the last one.
        Value states =
            t.empty({head.mostChunks() + 1, form.keySize, form.valueSize});
        Value start = startState(head, form.initial,
                                 t.empty({form.keySize, form.valueSize}));
        auto number = [&](const Head::Place &place) -> Value {
          return arith::DivUIOp::create(t.b, t.loc, place.at,
                                        t.index(head.chunk()));
        };
        auto next = [&](const Head::Place &place) -> Value {
          return arith::AddIOp::create(t.b, t.loc, number(place), t.index(1));
        };
        states = t.withEntry(states, t.index(0), start);
        states = head.overChunks(
            {states, start}, /*backward=*/false,
            [&](const Head::Place &place, ValueRange tiles) -> Tiles::Values {
              ChunkForm::Outcome out =
                  chunkForward(t, form, *core, head.tiles(place), tiles[1],
                               /*outputs=*/false);
              return {t.withEntry(tiles[0], next(place), out.state), out.state};
            })[0];
        Tiles::Values carried(parts);
        // Sums over tokens start from 0.
        for (auto [tile, gradient] : llvm::zip_equal(carried, gradients))
          if (!gradient.result.perToken && gradient.tile)
            tile = startState(head, Value(), tile);
        carried.back() = startState(head, getDFinal(), parts.back());
        return head.overChunks(
            carried, /*backward=*/true,
            [&](const Head::Place &place, ValueRange tiles) -> Tiles::Values {
              ChunkForm::States around = {t.entry(states, number(place)),
                                          t.entry(states, next(place))};
              ChunkGradients d =
                  chunkBackward(t, form, *core, head.tiles(place), around,
                                head.read(dO, place), tiles.back());
              Tiles::Values out;
              for (size_t i = 0; i < operandsInChunks; ++i) {
                const Gradient &gradient = gradients[i];
                Value tile = d.*gradient.tile;
                if (gradient.result.perToken) {
                  out.push_back(head.write(tile, tiles[i], place));
                  continue;
                }
                if (gradient.tile == &ChunkGradients::decay) {
                  Value there = head.forTokens(t.number(1), place);
                  out.push_back(t.generic(
                      {{tile, "c"}, {there, "c"}}, {{tiles[i], "x"}},
                      [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                        return {s.add(e[2], s.mul(e[0], e[1]))};
                      })[0]);
                  continue;
                }
                StringRef loops =
                    StringRef("kv").take_front(Tiles::shape(tile).size());
                out.push_back(t.generic(
                    {{tile, loops}}, {{tiles[i], loops}},
                    [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                      return {s.add(e[1], e[0])};
                    })[0]);
              }
              out.push_back(d.state);
              return out;
            });
      });

  Tiles t(b, loc, wide);
  SmallVector<Value> found;
  for (auto [gradient, sum] : llvm::zip_equal(gradients, sums)) {
    if (!gradient.operand)
      continue;
    RankedTensorType type = Recurrence::type(gradient.operand);
    Value value = sum;
    if (gradient.result.perToken && type.getDimSize(2) != form.heads) {
      int64_t own = type.getDimSize(2);
      SmallVector<int64_t> split(type.getShape());
      split.insert(split.begin() + 3, form.heads / own);
      value = tensor::ExpandShapeOp::create(
          b, loc, RankedTensorType::get(split, wide), value,
          ArrayRef<ReassociationIndices>{{0}, {1}, {2, 3}, {4}});
      value = sumOver(b, loc, value, 3);
    } else if (!gradient.result.perToken && gradient.tile) {
      value = sumOver(b, loc, value, 0);
      if (gradient.tile == &ChunkGradients::decay)
        value = sumOver(b, loc, value, 1);
    }
    found.push_back(t.convert(value, cast<FloatType>(type.getElementType())));
  }
  return found;
}

} // namespace drawloom::linrec
