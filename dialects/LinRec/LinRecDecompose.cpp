//===- LinRecDecompose.cpp - recurrences as block programs ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is one head of one sequence (Head.h). It carries the state from chunk
// to chunk. The gradient goes through the chunks twice: forward, to keep the
// state before each chunk, then backward with the state's gradient. With
// checkpoints it keeps the state before each m-th chunk, and the way back goes
// through groups of m chunks, each of which is first gone through forward again
// (Chen et al., arXiv 1604.06174).
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Schedule/HeadBlocks.h"
#include "dialects/LinRec/Schedule/ScheduleCost.h"
#include "dialects/LinRec/Schedule/Segments.h"
#include "dialects/LinRec/Schedule/TokenSteps.h"
#include "dialects/LinRec/Schedule/ValueBlocks.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

std::unique_ptr<ChunkForm> coreOf(Head &head) {
  return splitForm(head.t, head.form, head.chunk());
}

bool isOpen(Operation *op) {
  auto isOpen = [](Type type) {
    return !cast<RankedTensorType>(type).hasStaticShape();
  };
  return llvm::any_of(op->getOperandTypes(), isOpen) ||
         llvm::any_of(op->getResultTypes(), isOpen);
}

/// What an op needs beside its verifier to become a block program. Where calls
/// choose the numbers of sequences and tokens, operands and results must have
/// the same.
template <typename Op>
LogicalResult checkExtents(OpBuilder &b, Op op, const Recurrence &form) {
  if (!isOpen(op))
    return success();
  if (form.steps > 1 || form.ownMemory || form.segments.value_or(1) > 1 ||
      form.valueBlocks.value_or(1) > 1)
    return op.emitOpError()
           << "can be compiled for any numbers of sequences and tokens only "
           << "on the CPU, where a token is one step, and neither sequences "
           << "nor states are cut; v is " << form.v.getType() << " and q is "
           << form.q.getType();
  RankedTensorType v = Recurrence::type(form.v);
  SmallVector<Value> perToken, states = {form.initial};
  for (auto [x, hasTokens] : form.perToken())
    if (hasTokens)
      perToken.push_back(x);
  if constexpr (std::is_same_v<Op, ScanBwdOp>) {
    perToken.push_back(op.getDO());
    states.push_back(op.getDFinal());
    for (auto [result, of] :
         llvm::zip_equal(op->getResults(), form.differentiable()))
      if (llvm::is_contained(perToken, of) || of == form.initial)
        (of == form.initial ? states : perToken).push_back(result);
  } else {
    perToken.push_back(op.getO());
    states.push_back(op.getFinal());
  }
  Location loc = op.getLoc();
  for (Value x : perToken)
    for (int64_t dim = 0; x && x != form.v && dim < 2; ++dim)
      if (failed(assertExtent(b, op, x, dim, v, [&] {
            return tensor::getMixedSize(b, loc, form.v, dim);
          })))
        return failure();
  for (Value x : states)
    if (x && failed(assertExtent(
                 b, op, x, 0, form.starts ? Recurrence::type(form.starts) : v,
                 [&] { return sequencesOf(b, loc, form); })))
      return failure();
  return success();
}

/// The extents of a tensor of this shape: those that calls choose are of
/// sequences and tokens.
SmallVector<OpFoldResult> extentsOf(OpBuilder &b, Location loc,
                                    const Recurrence &form,
                                    ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> extents;
  for (auto [dim, extent] : llvm::enumerate(shape))
    extents.push_back(!ShapedType::isDynamic(extent)
                          ? OpFoldResult(b.getIndexAttr(extent))
                      : dim == 0 ? sequencesOf(b, loc, form)
                                 : tensor::getMixedSize(b, loc, form.v, dim));
  return extents;
}

} // namespace

/// Where there is no token, states stay what they are, and nothing else has
/// elements or a gradient.
static bool hasNoToken(const Recurrence &form) {
  RankedTensorType v = Recurrence::type(form.v);
  return v.getDimSize(0) == 0 || v.getDimSize(1) == 0;
}

/// One packed sequence has all tokens, as if it were not packed: chunks that
/// are full need not be gathered.
static void unpackOne(Recurrence &form) {
  if (form.starts && sequencesOf(form) == 1)
    form.starts = Value();
}

static Value zerosOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, type,
                                   cast<TypedAttr>(b.getZeroAttr(type)));
}

/// Where an op says nothing of its schedule, and another one than the standard
/// suits the machine, the op with that; null otherwise.
template <typename Op>
static Op withSchedule(OpBuilder &b, Op op, const Recurrence &form) {
  MachineFacts machine = machineFactsOf(op);
  bool hasChoice = machine.processors > 1 || machine.blockBytes > 0;
  constexpr bool isGradient = std::is_same_v<Op, ScanBwdOp>;
  int64_t chunk = chooseChunk(form, isGradient, machine);
  if (chunk != chunkOf(form)) {
    Op scheduled = cast<Op>(b.clone(*op));
    scheduled.setChunk(chunk);
    return scheduled;
  }
  if ((form.segments && form.valueBlocks) || !hasChoice || isOpen(op))
    return {};
  ScheduleProblem problem(form, isGradient);
  Schedule chosen = chooseSchedule(problem, machine);
  bool isAsSaid = chosen.valueBlocks == form.valueBlocks.value_or(1) &&
                  chosen.segments == form.segments.value_or(1);
  if (isAsSaid && (form.segments || form.valueBlocks))
    return {};
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name("Scheduled").category("linrec-schedule"))
      << remark::metric("op", op->getName().getStringRef())
      << remark::metric("valueBlocks", chosen.valueBlocks)
      << remark::metric("segments", chosen.segments)
      << remark::metric("processors", machine.processors)
      << remark::metric("multiplyAdds",
                        problem.time(chosen, machine.processors))
      << remark::metric("residentMultiplyAdds",
                        problem.time({}, machine.processors))
      << remark::metric("blockBytes", problem.blockBytes(chosen));
  if (isAsSaid)
    return {};
  Op scheduled = cast<Op>(b.clone(*op));
  scheduled.setValueBlocks(chosen.valueBlocks);
  scheduled.setSegments(chosen.segments);
  return scheduled;
}

FailureOr<SmallVector<Value>> ScanOp::decomposeOperation(OpBuilder &b) {
  Recurrence form(*this);
  if (failed(checkExtents(b, *this, form)))
    return failure();
  Location loc = getLoc();
  if (hasNoToken(form))
    return SmallVector<Value>{
        zerosOf(b, loc, getO().getType()),
        form.initial ? form.initial : zerosOf(b, loc, getFinal().getType())};
  if (form.steps > 1)
    return scanInSteps(b, *this);
  if (ScanOp scheduled = withSchedule(b, *this, form))
    return SmallVector<Value>(scheduled->getResults());
  if (form.valueBlocks.value_or(1) > 1)
    return scanInValueBlocks(b, *this);
  if (form.segments.value_or(1) > 1)
    return scanInSegments(b, *this);
  unpackOne(form);
  auto outType = cast<RankedTensorType>(getO().getType());
  auto stateType = cast<RankedTensorType>(getFinal().getType());
  Value o = tensor::EmptyOp::create(b, loc,
                                    extentsOf(b, loc, form, outType.getShape()),
                                    outType.getElementType());
  Value final = tensor::EmptyOp::create(
      b, loc, extentsOf(b, loc, form, stateType.getShape()),
      stateType.getElementType());
  // Outputs that nobody reads are not computed. The state is carried in its
  // result, if that is wanted.
  bool outputs = !getO().use_empty(), states = !getFinal().use_empty();
  SmallVector<Result> results;
  if (outputs)
    results.push_back({o, true});
  if (states)
    results.push_back({final, false});
  SmallVector<Value> found = overHeads(
      b, loc, form, results,
      [&](Head &head, ValueRange parts) -> Tiles::Values {
        Tiles::Values carried(parts);
        if (!states)
          carried.push_back(head.t.empty({form.keySize, form.valueSize}));
        carried.back() = head.startState(form.initial, carried.back());
        std::unique_ptr<ChunkForm> core = coreOf(head);
        Tiles::Values last = head.overChunks(
            carried, /*backward=*/false,
            [&](const Head::Place &place, ValueRange tiles) -> Tiles::Values {
              ChunkForm::Outcome out =
                  chunkForward(head.t, form, *core, head.tiles(place),
                               tiles.back(), outputs);
              if (!outputs)
                return {out.state};
              return {head.write(out.o, tiles[0], place), out.state};
            });
        last.truncate(results.size());
        return last;
      });
  return SmallVector<Value>{outputs ? found.front() : o,
                            states ? found.back() : final};
}

namespace {

/// The gradient of one operand on its way: what blocks write, and what becomes
/// of it.
struct Gradient {
  Value operand;
  Value ChunkGradients::*tile; // null for the initial state
  Result result;
  size_t position; // among the op's results
};

/// How a gradient's block goes forward, and what it leaves for the way back.
class WayForward {
public:
  WayForward(Head &head, ChunkForm &core)
      : head(head), core(core), t(head.t), form(head.form) {}

  struct Saved {
    Value states; // before each chunk of a range, and after the last one
    Tiles::Values kept;
  };
  /// Of a range of at most `most` chunks, the first of which begins with `of`,
  /// or with the initial state.
  Saved save(const Head::Range &range, OpFoldResult most, Value of = {}) {
    Tiles::Values ahead = {stateArray(oneMore(most))};
    Value start =
        of ? linalg::CopyOp::create(t.b, t.loc, of, oneState()).getResult(0)
           : head.startState(form.initial, oneState());
    ahead[0] = t.withEntry(ahead[0], t.index(0), start);
    ahead.push_back(start);
    for (const SmallVector<int64_t> &shape : core.keptShapes())
      ahead.push_back(t.array(most, shape));
    ahead = head.overChunks(
        range, ahead, /*backward=*/false,
        [&](const Head::Place &place, ValueRange tiles) -> Tiles::Values {
          ChunkForm::Outcome out = step(place, tiles[1]);
          Tiles::Values found = {
              t.withEntry(tiles[0], next(place, range), out.state), out.state};
          for (auto [all, tile] : llvm::zip(tiles.drop_front(2), out.kept))
            found.push_back(t.withEntry(all, head.number(place, range), tile));
          return found;
        });
    return {ahead[0], Tiles::Values(ArrayRef(ahead).drop_front(2))};
  }

  /// What is known around a chunk of the range that was saved.
  ChunkForm::States around(const Saved &saved, const Head::Place &place,
                           const Head::Range &range) {
    ChunkForm::States states = {
        t.entry(saved.states, head.number(place, range)),
        t.entry(saved.states, next(place, range))};
    for (Value all : saved.kept)
      states.kept.push_back(t.entry(all, head.number(place, range)));
    return states;
  }

  /// The states before each group of `count` chunks.
  Value checkpoints(const Head::Range &all, int64_t count) {
    Value states = stateArray(quotient(head.mostChunks(), count));
    Value start = head.startState(form.initial, oneState());
    // Nobody asks for the states behind the last checkpoint yet.
    Value width = t.index(count * head.chunk());
    Value groups = arith::CeilDivUIOp::create(t.b, t.loc, all.end, width);
    Value earlier = arith::SubIOp::create(t.b, t.loc, groups, t.index(1));
    Value last = arith::MulIOp::create(t.b, t.loc, earlier, width);
    return head.overGroups(
        all, count, {states, start}, /*backward=*/false,
        [&](Value number, Head::Range range, ValueRange tiles) {
          Value known = t.withEntry(tiles[0], number, tiles[1]);
          range.end = arith::MinSIOp::create(t.b, t.loc, range.end, last);
          Tiles::Values state = head.overChunks(
              range, tiles[1], /*backward=*/false,
              [&](const Head::Place &place, ValueRange carried) {
                return Tiles::Values{step(place, carried[0]).state};
              });
          return Tiles::Values{known, state[0]};
        })[0];
  }

private:
  ChunkForm::Outcome step(const Head::Place &place, Value state) {
    return chunkForward(t, form, core, head.tiles(place), state,
                        /*outputs=*/false);
  }
  Value next(const Head::Place &place, const Head::Range &range) {
    return arith::AddIOp::create(t.b, t.loc, head.number(place, range),
                                 t.index(1));
  }
  Value oneState() { return t.empty({form.keySize, form.valueSize}); }
  Value stateArray(OpFoldResult count) {
    return t.array(count, {form.keySize, form.valueSize});
  }
  OpFoldResult oneMore(OpFoldResult count) {
    if (std::optional<int64_t> known = getConstantIntValue(count))
      return t.b.getIndexAttr(*known + 1);
    return arith::AddIOp::create(t.b, t.loc, cast<Value>(count), t.index(1))
        .getResult();
  }
  OpFoldResult quotient(OpFoldResult count, int64_t by) {
    if (std::optional<int64_t> known = getConstantIntValue(count))
      return t.b.getIndexAttr(llvm::divideCeil(*known, by));
    return arith::CeilDivUIOp::create(t.b, t.loc, cast<Value>(count),
                                      t.index(by))
        .getResult();
  }

  Head &head;
  ChunkForm &core;
  Tiles &t;
  const Recurrence &form;
};

/// What calls may bring, where they choose. States and operands both grow with
/// tokens, so that any number says which are larger; what lies between
/// checkpoints takes its memory in shorter sequences, too.
constexpr int64_t tokensOfOpen = 4096;

int64_t elementsOf(RankedTensorType type) {
  int64_t elements = 1;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    elements *= !ShapedType::isDynamic(extent) ? extent
                : dim == 0                     ? 1
                                               : tokensOfOpen;
  return elements;
}

/// How many chunks lie between checkpoints: what the op says, or what suits the
/// machine.
int64_t intervalOf(ScanBwdOp op, const Recurrence &form) {
  if (form.checkpointInterval)
    return *form.checkpointInterval;
  int64_t operandBytes = 0;
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      auto tensor = cast<RankedTensorType>(type);
      if (tensor.getElementType().isFloat())
        operandBytes +=
            elementsOf(tensor) * tensor.getElementTypeBitWidth() / 8;
    }
  MachineFacts machine = machineFactsOf(op);
  ScheduleProblem problem(form, /*gradient=*/true);
  RankedTensorType v = Recurrence::type(form.v);
  if (ShapedType::isDynamic(problem.sequences))
    problem.sequences = 1;
  if (v.isDynamicDim(1))
    problem.chunks = llvm::divideCeil(tokensOfOpen, problem.chunk);
  int64_t limit = savedBytesLimit(operandBytes, machine);
  int64_t interval = chooseInterval(problem, limit, machine);
  int64_t blocks = problem.sequences * problem.heads;
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name("Checkpointed").category("linrec-schedule"))
      << remark::metric("op", op->getName().getStringRef())
      << remark::metric("checkpointInterval", interval)
      << remark::metric("savedBytes", savedAtOnce(problem, interval, machine))
      << remark::metric("allStatesBytes", savedAtOnce(problem, 1, machine))
      << remark::metric("limitBytes", limit)
      << remark::metric("recomputedMultiplyAdds",
                        blocks * problem.recomputed(interval))
      << remark::metric("multiplyAdds", problem.time({}, /*processors=*/1));
  return interval;
}

} // namespace

/// What the blocks of all heads found for an operand, added up where they share
/// it.
static Value totalOf(OpBuilder &b, ScanBwdOp op, const Recurrence &form,
                     const Gradient &gradient, Value found) {
  Location loc = op.getLoc();
  RankedTensorType type = Recurrence::type(gradient.operand);
  if (gradient.result.perToken) {
    int64_t shared = type.getDimSize(2);
    if (shared == form.heads)
      return found;
    return isOpen(op) ? sumOfHeads(b, loc, found, shared,
                                   cast<FloatType>(type.getElementType()))
                      : sumOver(b, loc, headsApart(b, loc, found, shared), 3);
  }
  // The initial state is a sequence's own.
  if (!gradient.tile)
    return found;
  Value sum =
      isOpen(op) ? sumOfSequences(b, loc, found) : sumOver(b, loc, found, 0);
  return gradient.tile == &ChunkGradients::decay ? sumOver(b, loc, sum, 1)
                                                 : sum;
}

/// The gradients that somebody reads, each with memory for it. That of the
/// initial state, if it is one of them, comes last; no chunk has a tile of it.
static SmallVector<Gradient> wantedGradients(OpBuilder &b, ScanBwdOp op,
                                             const Recurrence &form) {
  int64_t sequences = sequencesOf(form);
  FloatType wide = computeType(Recurrence::type(op.getV()).getElementType());
  auto empty = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    return tensor::EmptyOp::create(
        b, op.getLoc(), extentsOf(b, op.getLoc(), form, shape), element);
  };
  SmallVector<Gradient> gradients;
  size_t position = 0;
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
    // What nobody reads is not computed.
    if (op.getGradients()[position++].use_empty())
      continue;
    RankedTensorType type = Recurrence::type(operand);
    SmallVector<int64_t> shape(type.getShape());
    Result result;
    bool ofRates = tile == &ChunkGradients::rates;
    result.perToken = !ofRates && shape.size() >= 3;
    if (ofRates) {
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
    gradients.push_back({operand, tile, result, position - 1});
  }
  // The state's gradient is carried in its result.
  if (form.initial && !op.getGradients()[position].use_empty()) {
    Value dInitial =
        empty({sequences, form.heads, form.keySize, form.valueSize}, wide);
    gradients.push_back({form.initial, nullptr, {dInitial, false}, position});
  }
  return gradients;
}

/// What `part` of a result becomes with the tile that a chunk has found.
static Value withChunk(Head &head, const Gradient &gradient, Value tile,
                       Value part, const Head::Place &place) {
  Tiles &t = head.t;
  if (gradient.result.perToken)
    return head.write(tile, part, place);
  if (gradient.tile == &ChunkGradients::decay) {
    Value there = head.forTokens(t.number(1), place);
    return t.generic({{tile, "c"}, {there, "c"}}, {{part, "x"}},
                     [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                       return {s.add(e[2], s.mul(e[0], e[1]))};
                     })[0];
  }
  StringRef loops = StringRef("kv").take_front(Tiles::shape(tile).size());
  return t.generic({{tile, loops}}, {{part, loops}},
                   [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                     return {s.add(e[1], e[0])};
                   })[0];
}

/// The gradients of one head of one sequence: forward for the states, then back
/// through the chunks, in groups of `interval` where not all states are kept.
static Tiles::Values gradientsOfHead(Head &head, ScanBwdOp op,
                                     const Recurrence &form,
                                     ArrayRef<Gradient> gradients,
                                     int64_t interval, ValueRange parts) {
  Tiles &t = head.t;
  std::unique_ptr<ChunkForm> core = coreOf(head);
  Value dO = head.extract(op.getDO(), head.rows(op.getDO()));
  WayForward forward(head, *core);
  bool keepsAll =
      interval == 1 ||
      interval >= getConstantIntValue(head.mostChunks())
                      .value_or(std::numeric_limits<int64_t>::max());
  Value checkpoints;
  WayForward::Saved saved;
  Head::Range all;
  if (keepsAll) {
    saved = forward.save(all, head.mostChunks());
  } else {
    all = head.allChunks();
    checkpoints = forward.checkpoints(all, interval);
  }
  Tiles::Values carried(parts);
  // Sums over tokens start from 0.
  for (auto [tile, gradient] : llvm::zip_equal(carried, gradients))
    if (!gradient.result.perToken && gradient.tile)
      tile = head.startState(Value(), tile);
  ArrayRef<Gradient> inChunks = gradients;
  if (!inChunks.empty() && !inChunks.back().tile)
    inChunks = inChunks.drop_back();
  else
    carried.push_back(t.empty({form.keySize, form.valueSize}));
  carried.back() = head.startState(op.getDFinal(), carried.back());

  auto back = [&](const Head::Range &range, ValueRange tiles) {
    return head.overChunks(
        range, tiles, /*backward=*/true,
        [&](const Head::Place &place, ValueRange tiles) {
          ChunkForm::States around = forward.around(saved, place, range);
          ChunkGradients found =
              chunkBackward(t, form, *core, head.tiles(place), around,
                            head.read(dO, place), tiles.back());
          Tiles::Values out;
          for (auto [gradient, part] :
               llvm::zip_equal(inChunks, tiles.drop_back()))
            out.push_back(
                withChunk(head, gradient, found.*gradient.tile, part, place));
          out.push_back(found.state);
          return out;
        });
  };
  Tiles::Values last =
      keepsAll
          ? back(all, carried)
          : head.overGroups(
                all, interval, carried, /*backward=*/true,
                [&](Value number, const Head::Range &range, ValueRange tiles) {
                  saved = forward.save(range, t.b.getIndexAttr(interval),
                                       t.entry(checkpoints, number));
                  return back(range, tiles);
                });
  last.truncate(gradients.size());
  return last;
}

FailureOr<SmallVector<Value>> ScanBwdOp::decomposeOperation(OpBuilder &b) {
  Recurrence form(*this);
  if (failed(checkExtents(b, *this, form)))
    return failure();
  Location loc = getLoc();
  if (hasNoToken(form)) {
    SmallVector<Value> found;
    for (Value operand : form.differentiable())
      found.push_back(operand == form.initial && getDFinal()
                          ? getDFinal()
                          : zerosOf(b, loc, operand.getType()));
    return found;
  }
  if (form.steps > 1)
    return differentiateInSteps(b, *this);
  if (ScanBwdOp scheduled = withSchedule(b, *this, form))
    return SmallVector<Value>(scheduled->getResults());
  if (form.valueBlocks.value_or(1) > 1)
    return differentiateInValueBlocks(b, *this);
  if (form.segments.value_or(1) > 1)
    return differentiateInSegments(b, *this);
  int64_t interval = intervalOf(*this, form);
  unpackOne(form);

  SmallVector<Gradient> gradients = wantedGradients(b, *this, form);
  SmallVector<Result> results;
  for (const Gradient &gradient : gradients)
    results.push_back(gradient.result);
  SmallVector<Value> sums = overHeads(
      b, loc, form, results,
      [&](Head &head, ValueRange parts) -> Tiles::Values {
        return gradientsOfHead(head, *this, form, gradients, interval, parts);
      });

  Tiles t(b, loc, computeType(Recurrence::type(getV()).getElementType()));
  SmallVector<Value> found;
  for (Type type : getResultTypes()) {
    auto unread = cast<RankedTensorType>(type);
    found.push_back(tensor::EmptyOp::create(
        b, loc, extentsOf(b, loc, form, unread.getShape()),
        unread.getElementType()));
  }
  for (auto [gradient, sum] : llvm::zip_equal(gradients, sums))
    found[gradient.position] = t.convert(
        totalOf(b, *this, form, gradient, sum),
        cast<FloatType>(Recurrence::type(gradient.operand).getElementType()));
  return found;
}

} // namespace drawloom::linrec
