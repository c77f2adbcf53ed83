//===- ChunkwiseForm.cpp - a chunk as products of matrices ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With G the running sum of the log-decays in the chunk, up to and with a
// token, everything that one token does to another carries a factor
// exp(G_i - G_j), i >= j. A decay of each token leaves products of matrices as
// they are: the factors are one matrix, multiplied with the scores. A decay of
// each element of a token has to be split, exp(G_i - G_m) exp(G_m - G_j), where
// m is a token in the middle of the chunk (HybridForm.cpp says when that is
// harmless). The state's share has factors exp(G_i) and exp(G_last - G_j), at
// most 1 both.
//
// Sources: Yang et al., arXiv 2312.06635 and
// 2406.06484; the gradient of a triangular system is the merged form
// dL = -stril(y N^T) with y = (I + L)^-T dN.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/LinRec/Chunk/Chunk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// A tile with the decays that go with its place in a product: with scores
/// within the chunk, and with the state.
struct Scaled {
  Value inChunk, ofState;
};

/// A gradient of scores, and the tile on their other side.
struct Term {
  Value scores, tile;
};

/// In a body over [C, C]: whether the row comes after the column, or is it.
Value isLower(ScalarBuilder &s, bool strict) {
  Value i = linalg::IndexOp::create(s.builder, s.loc, 0);
  Value j = linalg::IndexOp::create(s.builder, s.loc, 1);
  auto predicate =
      strict ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::sge;
  return arith::CmpIOp::create(s.builder, s.loc, predicate, i, j);
}

/// One chunk, while it is written.
class Chunk {
public:
  Chunk(Tiles &t, const Recurrence &form, const CoreTiles &in, Value state)
      : t(t), form(form), in(in), state(state),
        size(Tiles::shape(in.q).front()) {
    if (in.g)
      prepareDecays();
    q = rows(in.q, readsBefore());
    k = columns(in.k);
    if (in.a)
      a = rows(in.a, form.eraseBeforeDecay);
    if (in.b)
      b = columns(in.b);
  }

  ChunkForm::Outcome forward(bool outputs);
  CoreGradients backward(const ChunkForm::States &states, Value dO,
                         Value dState);

private:
  bool keyed() const { return form.decayKind == DecayKind::Key; }
  bool readsBefore() const { return static_cast<bool>(form.bonus); }
  SmallVector<int64_t, 2> keyShape() const { return {size, form.keySize}; }
  SmallVector<int64_t, 2> valueShape() const { return {size, form.valueSize}; }

  void prepareDecays();
  Value times(Value tile, Value factor, StringRef loops);
  Scaled rows(Value x, bool before);
  Scaled columns(Value y);
  Value undoRows(const Scaled &x, Value ofState, ArrayRef<Term> terms,
                 bool before);
  Value undoColumns(const Scaled &y, Value ofState, ArrayRef<Term> terms);
  Value masked(Value scores, bool strict, bool before);
  Value scores(const Scaled &x, const Scaled &y, bool strict, bool before) {
    Value raw =
        t.product({x.inChunk, "ik"}, {y.inChunk, "jk"}, "ij", {size, size});
    return masked(raw, strict, before);
  }
  /// The gradient of scores: x y^T over values, where scores may be.
  Value scoreGradient(Value x, Value y, Value scores, bool strict,
                      bool before) {
    Value raw = t.product({x, "iv"}, {y, "jv"}, "ij", {size, size});
    exchanges.push_back({scores, raw, before});
    return masked(raw, strict, before);
  }
  /// The state `s` after all decays, plus x y.
  Value decayedPlus(Value s, Indexed x, Indexed y);
  Value minus(Value x) {
    return t.map(x, [](ScalarBuilder &s, ValueRange e) { return s.neg(e[0]); });
  }
  Value solve(Value matrix, Value rightSide, bool transpose) {
    return block::SolveTriangularOp::create(t.b, t.loc, rightSide.getType(),
                                            block::Triangle::Lower, transpose,
                                            /*unit=*/true, matrix, rightSide);
  }
  Value solved(Value rightSide, bool transpose);
  void writeValues();
  void takeValues(ValueRange kept);
  Value running(Value x, bool exclusive, bool reverse) {
    return block::ScanOp::create(t.b, t.loc, x.getType(), block::ScanKind::Add,
                                 exclusive, reverse, x,
                                 /*dimension=*/0, t.empty(Tiles::shape(x)));
  }
  Value keyDecayGradient(Value after, Value dState);
  Value tokenDecayGradient(Value dState);

  Tiles &t;
  const Recurrence &form;
  const CoreTiles &in;
  Value state;
  int64_t size;

  /// exp(G - G_m) and its inverse [C, K]; of each token exp(G) and
  /// exp(G_last - G) [C]. The first also without the token's own decay.
  Value since, sinceBefore, until;
  /// Where factors are split: exp(G_m), exp(G_last - G_m) and exp(G_last) [K].
  /// Else the last as a number.
  Value toMiddle, fromMiddle, whole;
  /// Of decays of each token: factors of scores, 0 where none are.
  Value between, betweenBefore;

  Scaled q, k, a, b;
  Value scoresK, scoresB, eraseK, eraseB;
  Value written; // what k writes: w, or without b what is left after erasing
  Value read;    // with b: what b writes
  Value system;  // I + system is the triangular matrix
  Value inverse; // of I + system, where that is computed

  /// Who hands what to whom, while gradients are written: two tiles of which
  /// products are sums over all that decays come between, [C, C] among tokens,
  /// [C, K] from and to the state; and whether a token's own decay comes after.
  struct Exchange {
    Value tile, gradient;
    bool before;
  };
  SmallVector<Exchange, 4> exchanges, reads, writes;
  /// Of decays of keys: what tokens read, and what they write, times its
  /// gradient, element by element.
  struct Handed {
    Value tile, gradient;
    bool before, reads;
  };
  SmallVector<Handed, 4> handed;
};

Value Chunk::times(Value tile, Value factor, StringRef loops) {
  StringRef own = Tiles::shape(tile)[1] == form.keySize ? "ck" : "cv";
  return t.map(
      {{tile, own}, {factor, loops}}, own, Tiles::shape(tile),
      [](ScalarBuilder &s, ValueRange e) { return s.mul(e[0], e[1]); });
}

void Chunk::prepareDecays() {
  ArrayRef<int64_t> shape = Tiles::shape(in.g);
  Value sums = block::ScanOp::create(
      t.b, t.loc, in.g.getType(), block::ScanKind::Add, /*exclusive=*/false,
      /*reverse=*/false, in.g, /*dimension=*/0, t.empty(shape));
  bool before = readsBefore() || (in.a && form.eraseBeforeDecay);
  Value last = t.entry(sums, t.index(size - 1));
  auto exp = [](ScalarBuilder &s, ValueRange e) { return s.exp(e[0]); };
  if (keyed()) {
    // Sums of mild decays: HybridForm.cpp bounds those of either half.
    auto expOfDifference = [](ScalarBuilder &s, ValueRange e) {
      return s.expOfDifference(e[0], e[1]);
    };
    auto expBefore = [](ScalarBuilder &s, ValueRange e) {
      return s.expOfDifference(s.sub(e[0], e[1]), e[2]);
    };
    Value middle = t.entry(sums, t.index(size / 2 - 1));
    SmallVector<Indexed, 2> apart = {{sums, "ck"}, {middle, "k"}};
    Tiles::Values factors =
        t.generic(apart, {{t.empty(shape), "ck"}, {t.empty(shape), "ck"}},
                  [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                    Value factor = s.expOfDifference(e[0], e[1]);
                    return {factor, s.div(1.0, factor)};
                  });
    since = factors[0];
    until = factors[1];
    toMiddle = t.map(middle, exp);
    fromMiddle = t.map({{last, "k"}, {middle, "k"}}, "k", Tiles::shape(middle),
                       expOfDifference);
    whole = t.map(last, exp);
    if (before)
      sinceBefore = t.map({{sums, "ck"}, {in.g, "ck"}, {middle, "k"}}, "ck",
                          shape, expBefore);
    return;
  }
  // Sums of what lies between two tokens, not differences of sums: those of
  // strong decays have no digits left, those of infinite ones are not numbers.
  since = t.map(sums, exp);
  until = t.map(running(in.g, /*exclusive=*/true, /*reverse=*/true), exp);
  whole = t.entry(since, t.index(size - 1));
  // g_i below the diagonal, of which a column's sum down to i is that of what
  // comes between i and j.
  Value steps = t.map(
      {{in.g, "i"}}, "ij", {size, size}, [&](ScalarBuilder &s, ValueRange e) {
        return s.select(isLower(s, /*strict=*/true), e[0], s.constant(0, e[0]));
      });
  auto factors = [&](bool strict) {
    return t.map({{running(steps, /*exclusive=*/strict, false), "ij"}}, "ij",
                 {size, size}, [&](ScalarBuilder &s, ValueRange e) {
                   Value factor = s.exp(e[0]);
                   return s.select(isLower(s, strict), factor,
                                   s.constant(0, factor));
                 });
  };
  between = factors(/*strict=*/false);
  if (!before)
    return;
  sinceBefore =
      t.map(running(in.g, /*exclusive=*/true, /*reverse=*/false), exp);
  betweenBefore = factors(/*strict=*/true);
}

Scaled Chunk::rows(Value x, bool before) {
  if (!in.g)
    return {x, x};
  Value factor = before ? sinceBefore : since;
  if (!keyed())
    return {x, times(x, factor, "c")};
  Value scaled = times(x, factor, "ck");
  return {scaled, times(scaled, toMiddle, "k")};
}

Scaled Chunk::columns(Value y) {
  if (!in.g)
    return {y, y};
  if (!keyed())
    return {y, times(y, until, "c")};
  Value scaled = times(y, until, "ck");
  return {scaled, times(scaled, fromMiddle, "k")};
}

/// The gradient of rows from that of their form for the state and the
/// gradients of their scores.
Value Chunk::undoRows(const Scaled &x, Value ofState, ArrayRef<Term> terms,
                      bool before) {
  Value factor = before ? sinceBefore : since;
  Value sum = !in.g     ? ofState
              : keyed() ? times(ofState, toMiddle, "k")
                        : times(ofState, factor, "c");
  for (const Term &term : terms)
    sum = t.product({term.scores, "ij"}, {term.tile, "jk"}, {sum, "ik"});
  if (!keyed())
    return sum;
  handed.push_back({t.rounded(x.inChunk), sum, before, /*reads=*/true});
  return times(sum, factor, "ck");
}

Value Chunk::undoColumns(const Scaled &y, Value ofState, ArrayRef<Term> terms) {
  Value own = !in.g     ? ofState
              : keyed() ? times(ofState, fromMiddle, "k")
                        : times(ofState, until, "c");
  // Where operands are rounded, what goes to the state and to tokens does not
  // have the same digits.
  bool apart = keyed() && t.narrow;
  Value sum = apart ? t.zeros(keyShape()) : own;
  for (const Term &term : terms)
    sum = t.product({term.scores, "ij"}, {term.tile, "ik"}, {sum, "jk"});
  if (!keyed())
    return sum;
  handed.push_back({t.rounded(y.inChunk), sum, false, /*reads=*/false});
  if (apart) {
    handed.push_back({t.rounded(y.ofState), ofState, false, /*reads=*/false});
    sum =
        t.map({{sum, "ck"}, {own, "ck"}}, "ck", keyShape(),
              [](ScalarBuilder &s, ValueRange e) { return s.add(e[0], e[1]); });
  }
  return times(sum, until, "ck");
}

/// `x`, of which nothing above the diagonal matters or is other than 0.
static Value lower(Tiles &t, Value x) {
  x.getDefiningOp()->setAttr(block::lowerTriangularAttr, t.b.getUnitAttr());
  return x;
}

/// Scores where i >= j, or i > j, with the decays that were not split off.
Value Chunk::masked(Value scores, bool strict, bool before) {
  if (in.g && !keyed() && (before || !strict))
    return lower(
        t, t.map({{scores, "ij"}, {before ? betweenBefore : between, "ij"}},
                 "ij", {size, size}, [](ScalarBuilder &s, ValueRange e) {
                   return s.mul(e[0], e[1]);
                 }));
  Value factors = in.g && !keyed() ? between : Value();
  SmallVector<Indexed, 2> inputs = {{scores, "ij"}};
  if (factors)
    inputs.push_back({factors, "ij"});
  auto masked = [&](ScalarBuilder &s, ValueRange e) {
    Value score = factors ? s.mul(e[0], e[1]) : e[0];
    return s.select(isLower(s, strict), score, s.constant(0, score));
  };
  return lower(t, t.map(inputs, "ij", {size, size}, masked));
}

Value Chunk::decayedPlus(Value s, Indexed x, Indexed y) {
  if (!in.g)
    return t.product(x, y, {s, "kv"});
  // A GPU's state is in registers, and so its sum needs no others.
  if (form.ownMemory)
    return t.product(
        x, y,
        {t.map(
             {{s, "kv"}, {whole, keyed() ? "k" : ""}}, "kv", Tiles::shape(s),
             [](ScalarBuilder &b, ValueRange e) { return b.mul(e[0], e[1]); }),
         "kv"});
  // The sum first: the state is read and written once, from registers.
  Value sum = t.product(x, y, "kv", Tiles::shape(s));
  if (keyed())
    return t.generic({{whole, "k"}, {sum, "kv"}}, {{s, "kv"}},
                     [](ScalarBuilder &b, ValueRange e) -> Tiles::Values {
                       return {b.add(b.mul(e[0], e[2]), e[1])};
                     })[0];
  return t.generic({{sum, "kv"}}, {{s, "kv"}},
                   [&](ScalarBuilder &b, ValueRange e) -> Tiles::Values {
                     return {b.add(b.mul(whole, e[1]), e[0])};
                   })[0];
}

/// What goes into the state, corrected by what is erased from it.
void Chunk::writeValues() {
  written = in.w;
  if (!in.a)
    return;
  bool before = form.eraseBeforeDecay;
  Value ofState =
      t.product({a.ofState, "ck"}, {state, "kv"}, "cv", valueShape());
  Value ofChunk = scores(a, k, /*strict=*/true, before);
  eraseK = ofChunk;
  if (!in.b) {
    system = ofChunk;
    Value rightSide =
        t.map({{in.w, "cv"}, {ofState, "cv"}}, "cv", valueShape(),
              [](ScalarBuilder &s, ValueRange e) { return s.sub(e[0], e[1]); });
    written = solved(rightSide, /*transpose=*/false);
    return;
  }
  eraseB = scores(a, b, /*strict=*/true, before);
  system = minus(eraseB);
  read = solved(t.product({eraseK, "ij"}, {in.w, "jv"}, {ofState, "iv"}),
                /*transpose=*/false);
}

/// (I + system)^-1 times the right-hand sides, or its transpose.
Value Chunk::solved(Value rightSide, bool transpose) {
  if (!form.inverts)
    return solve(system, rightSide, transpose);
  if (!inverse) {
    Value identity =
        t.map({}, "ij", {size, size}, [&](ScalarBuilder &s, ValueRange) {
          Value isDiagonal = arith::CmpIOp::create(
              s.builder, s.loc, arith::CmpIPredicate::eq,
              linalg::IndexOp::create(s.builder, s.loc, 0),
              linalg::IndexOp::create(s.builder, s.loc, 1));
          return s.select(isDiagonal, t.number(1), t.number(0));
        });
    inverse = lower(t, solve(system, identity, /*transpose=*/false));
  }
  return t.product({inverse, transpose ? "ji" : "ij"}, {rightSide, "jv"}, "iv",
                   valueShape());
}

/// What `writeValues` found when the chunk was computed forward.
void Chunk::takeValues(ValueRange kept) {
  eraseK = kept[1];
  if (form.inverts)
    inverse = kept.back();
  if (!in.b) {
    written = kept[0];
    system = eraseK;
    return;
  }
  written = in.w;
  read = kept[0];
  eraseB = kept[2];
  system = minus(eraseB);
}

ChunkForm::Outcome Chunk::forward(bool outputs) {
  writeValues();
  ChunkForm::Outcome out;
  if (in.b)
    out.kept = {read, eraseK, eraseB};
  else if (in.a)
    out.kept = {written, eraseK};
  if (inverse)
    out.kept.push_back(inverse);
  if (outputs) {
    scoresK = scores(q, k, readsBefore(), readsBefore());
    Value o = t.product({q.ofState, "ik"}, {state, "kv"}, "iv", valueShape());
    out.o = t.product({scoresK, "ij"}, {written, "jv"}, {o, "iv"});
    if (in.b) {
      scoresB = scores(q, b, readsBefore(), readsBefore());
      out.o = t.product({scoresB, "ij"}, {read, "jv"}, {out.o, "iv"});
    }
  }
  out.state = decayedPlus(state, {k.ofState, "ck"}, {written, "cv"});
  if (in.b)
    out.state = t.product({b.ofState, "ck"}, {read, "cv"}, {out.state, "kv"});
  return out;
}

CoreGradients Chunk::backward(const ChunkForm::States &states, Value dO,
                              Value dState) {
  if (states.kept.empty())
    writeValues();
  else
    takeValues(states.kept);
  bool first = readsBefore(), strict = readsBefore();
  bool eraseFirst = form.eraseBeforeDecay;
  scoresK = scores(q, k, strict, first);

  // What the values of k and b are worth.
  auto valueGradient = [&](Value scores, const Scaled &y) {
    Value ofState =
        t.product({y.ofState, "ck"}, {dState, "kv"}, "cv", valueShape());
    return t.product({scores, "ij"}, {dO, "iv"}, {ofState, "jv"});
  };
  // The shares of the state, rows of keys.
  auto ofRows = [&](const Scaled &x, Value gradient, bool before) {
    Value share = t.product({gradient, "cv"}, {state, "kv"}, "ck", keyShape());
    reads.push_back({x.ofState, share, before});
    return share;
  };
  auto ofColumns = [&](const Scaled &y, Value value) {
    Value share = t.product({value, "cv"}, {dState, "kv"}, "ck", keyShape());
    writes.push_back({y.ofState, share, false});
    return share;
  };

  CoreGradients d;
  Value dWritten = valueGradient(scoresK, k);
  Value dRead, dEraseK, dEraseB, dScoresB;
  if (in.b) {
    scoresB = scores(q, b, strict, first);
    dRead = solved(valueGradient(scoresB, b), /*transpose=*/true);
    dWritten = t.product({eraseK, "ij"}, {dRead, "iv"}, {dWritten, "jv"});
    dEraseB = scoreGradient(dRead, read, eraseB, /*strict=*/true, eraseFirst);
    dScoresB = scoreGradient(dO, read, scoresB, strict, first);
  } else if (in.a) {
    dWritten = solved(dWritten, /*transpose=*/true);
    dRead = minus(dWritten);
  }
  d.w = dWritten;
  if (in.a)
    dEraseK =
        scoreGradient(dRead, written, eraseK, /*strict=*/true, eraseFirst);
  Value dScoresK = scoreGradient(dO, written, scoresK, strict, first);

  SmallVector<Term, 2> ofQ = {{dScoresK, k.inChunk}};
  SmallVector<Term, 2> ofK = {{dScoresK, q.inChunk}};
  if (in.b)
    ofQ.push_back({dScoresB, b.inChunk});
  d.q = undoRows(q, ofRows(q, dO, first), ofQ, first);
  if (in.a) {
    ofK.push_back({dEraseK, a.inChunk});
    SmallVector<Term, 2> ofA = {{dEraseK, k.inChunk}};
    if (in.b)
      ofA.push_back({dEraseB, b.inChunk});
    d.a = undoRows(a, ofRows(a, dRead, eraseFirst), ofA, eraseFirst);
  }
  d.k = undoColumns(k, ofColumns(k, written), ofK);
  if (in.b)
    d.b = undoColumns(b, ofColumns(b, read),
                      {{dScoresB, q.inChunk}, {dEraseB, a.inChunk}});
  if (in.g)
    d.g = keyed() ? keyDecayGradient(states.after, dState)
                  : tokenDecayGradient(dState);
  d.state = decayedPlus(dState, {q.ofState, "ck"}, {dO, "cv"});
  if (in.a)
    d.state = t.product({a.ofState, "ck"}, {dRead, "cv"}, {d.state, "kv"});
  return d;
}

/// Every G_i is in what token i reads, with the sign of a product, and in what
/// it writes, with the other; the last one in the state after the chunk. g_t is
/// in all G_i with i >= t. What one token hands to another is in this twice,
/// and goes away only if both have the same digits.
Value Chunk::keyDecayGradient(Value after, Value dState) {
  auto summed = [&](ArrayRef<Handed> parts) {
    SmallVector<Indexed> inputs;
    for (const Handed &each : parts) {
      inputs.push_back({each.tile, "ck"});
      inputs.push_back({each.gradient, "ck"});
    }
    return t.map(inputs, "ck", keyShape(), [&](ScalarBuilder &s, ValueRange e) {
      Value sum;
      for (auto [i, each] : llvm::enumerate(parts)) {
        Value x = s.widen(e[2 * i]);
        if (!each.reads)
          x = s.neg(x);
        sum = sum ? s.fma(x, e[2 * i + 1], sum) : s.mul(x, e[2 * i + 1]);
      }
      return sum;
    });
  };
  auto isBefore = [](const Handed &each) { return each.before; };
  auto middle = std::stable_partition(handed.begin(), handed.end(), isBefore);
  ArrayRef<Handed> before(handed.begin(), middle), own(middle, handed.end());
  Value ofState =
      t.product({after, "kv"}, {t.rounded(dState), "kv"}, "k", {form.keySize});
  SmallVector<Indexed, 3> parts = {
      {running(summed(own), /*exclusive=*/false, /*reverse=*/true), "ck"},
      {ofState, "k"}};
  if (!before.empty())
    parts.push_back(
        {running(summed(before), /*exclusive=*/true, /*reverse=*/true), "ck"});
  return t.map(parts, "ck", keyShape(), [](ScalarBuilder &s, ValueRange e) {
    Value sum = s.add(e[0], e[1]);
    return e.size() > 2 ? s.add(sum, e[2]) : sum;
  });
}

/// g_t is in every exchange from before t to t or later, and only these are
/// summed: those that G_i would be in twice, with both signs, are many times
/// larger where decays are strong.
Value Chunk::tokenDecayGradient(Value dState) {
  SmallVector<Indexed, 6> parts;
  // From the state to tokens from t on, and from tokens before t to the state.
  auto shares = [&](ArrayRef<Exchange> all, bool before, bool reverse) {
    Value sum;
    for (const Exchange &each : all)
      if (each.before == before)
        sum = t.product({each.tile, "ck"}, {each.gradient, "ck"},
                        {sum ? sum : t.zeros({size}), "c"});
    if (sum)
      parts.push_back({running(sum, before || !reverse, reverse), "c"});
  };
  auto amongTokens = [&](bool before) {
    SmallVector<Indexed> inputs;
    for (const Exchange &each : exchanges)
      if (each.before == before) {
        inputs.push_back({each.tile, "ij"});
        inputs.push_back({each.gradient, "ij"});
      }
    if (inputs.empty())
      return;
    auto sumOf = [](ScalarBuilder &s, ValueRange e) {
      Value sum = s.mul(e[0], e[1]);
      for (size_t i = 2; i < e.size(); i += 2)
        sum = s.fma(e[i], e[i + 1], sum);
      return sum;
    };
    Value sums = lower(t, t.map(inputs, "ij", {size, size}, sumOf));
    // Row t: to tokens from t on, of which those from tokens before t count.
    Value later = t.map({{running(sums, before, /*reverse=*/true), "ij"}}, "ij",
                        {size, size}, [&](ScalarBuilder &s, ValueRange e) {
                          return s.select(isLower(s, /*strict=*/true), e[0],
                                          s.constant(0, e[0]));
                        });
    Value sum = t.generic({{later, "ij"}}, {{t.zeros({size}), "i"}},
                          [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                            return {s.add(e[1], e[0])};
                          })[0];
    parts.push_back({sum, "c"});
  };
  for (bool before : {false, true}) {
    shares(reads, before, /*reverse=*/true);
    amongTokens(before);
  }
  shares(writes, /*before=*/false, /*reverse=*/false);
  // From the state to the state.
  Value rows = t.product({state, "kv"}, {dState, "kv"}, "k", {form.keySize});
  Value through =
      t.generic({{rows, "k"}}, {{t.zeros({}), ""}},
                [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                  return {s.add(e[1], e[0])};
                })[0];
  parts.push_back({through, ""});
  return t.map(parts, "c", {size}, [&](ScalarBuilder &s, ValueRange e) {
    Value sum = s.mul(whole, e.back());
    for (Value part : e.drop_back())
      sum = s.add(sum, part);
    return sum;
  });
}

class ChunkwiseForm : public ChunkForm {
public:
  using ChunkForm::ChunkForm;
  /// Where there is a triangular system: its solution, and the scores in it.
  SmallVector<SmallVector<int64_t>> keptShapes() override {
    if (!form.erase && !form.beta)
      return {};
    SmallVector<SmallVector<int64_t>> shapes(
        (form.lowrank ? 3 : 2) + (form.inverts ? 1 : 0), {size, size});
    shapes[0] = {size, form.valueSize};
    return shapes;
  }
  Outcome forward(const CoreTiles &in, Value state, bool outputs) override {
    return Chunk(t, form, in, state).forward(outputs);
  }
  CoreGradients backward(const CoreTiles &in, const States &states, Value dO,
                         Value dState) override {
    return Chunk(t, form, in, states.before).backward(states, dO, dState);
  }
};

} // namespace

std::unique_ptr<ChunkForm> matrixForm(Tiles &t, const Recurrence &form,
                                      int64_t size) {
  return std::make_unique<ChunkwiseForm>(t, form, size);
}

} // namespace drawloom::linrec
