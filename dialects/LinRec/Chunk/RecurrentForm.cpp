//===- RecurrentForm.cpp - a chunk token after token ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Chunk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

class RecurrentForm : public ChunkForm {
public:
  using ChunkForm::ChunkForm;
  Outcome forward(const CoreTiles &in, Value state, bool outputs) override;
  CoreGradients backward(const CoreTiles &in, const States &around, Value dO,
                         Value dState) override;

private:
  /// Factors e^g of all tokens. With rates, a token has as many as its state
  /// has elements, so these are left to it.
  Value factors(const CoreTiles &in) {
    if (!in.g || in.rates)
      return {};
    return t.map(in.g,
                 [](ScalarBuilder &s, ValueRange x) { return s.exp(x[0]); });
  }

  /// The rows of one token. A factor of the whole state is a scalar.
  struct Token {
    Value q, k, w, a, b, factor;
  };
  Token token(const CoreTiles &in, Value factors, Value i) {
    auto row = [&](Value tile) { return tile ? t.entry(tile, i) : tile; };
    Value factor = row(factors);
    if (in.rates)
      factor = t.map({{in.rates, "kv"}, {row(in.g), "v"}}, "kv",
                     {keys(), values()}, [](ScalarBuilder &s, ValueRange e) {
                       Value zero = s.constant(0, e[0]);
                       return s.exp(s.minimum(s.mul(e[0], e[1]), zero));
                     });
    return {row(in.q), row(in.k), row(in.w), row(in.a), row(in.b), factor};
  }

  /// Adds the factor to the inputs of a generic op if it is a tile.
  void addFactor(SmallVectorImpl<Indexed> &inputs, Value factor) {
    if (!factor || !isa<RankedTensorType>(factor.getType()))
      return;
    StringRef loops = form.rates                           ? "kv"
                      : form.decayKind == DecayKind::Value ? "v"
                                                           : "k";
    inputs.push_back({factor, loops});
  }
  /// x times the factor, which is the last input if it is a tile.
  Value times(ScalarBuilder &s, Value x, Value factor, Value lastInput) {
    if (!factor)
      return x;
    return s.mul(x,
                 isa<RankedTensorType>(factor.getType()) ? lastInput : factor);
  }

  struct Step {
    Value state, o; // o: [V], or null
    Value read;     // e, or without lowrank what is written: w - e
  };
  Step step(const Token &x, Value state, Value o);

  /// The states before each token and after the last one, and what each read.
  struct History {
    Value states, read;
  };
  History replay(const CoreTiles &in, Value factors, Value before);

  /// A token on the way back, from the last one to the first.
  struct Visit {
    const History &history;
    Value i;
    Token token;
    Value before, seen; // The state before it, and the one that q reads.
    Value dO;
  };
  /// The gradients before any token has added to them.
  CoreGradients zeroGradients(const CoreTiles &in, Value dState);
  /// The tiles of the gradients that there are, as a loop carries them.
  static Tiles::Values pack(const CoreGradients &d);
  static CoreGradients unpack(const CoreTiles &in, ValueRange tiles);
  /// Adds what a token hands back.
  CoreGradients stepBack(const CoreTiles &in, const Visit &visit,
                         CoreGradients d);
  /// The state before a token, decayed, where a gradient needs it.
  Value decayed(const CoreTiles &in, const Visit &visit);
  /// Adds the gradients of a and b, and returns that of what the token read.
  Value readBack(const CoreTiles &in, const Visit &visit, Value moved,
                 CoreGradients &d);
  void ratesBack(const CoreTiles &in, const Visit &visit, Value moved,
                 CoreGradients &d);
  void decayBack(const CoreTiles &in, const Visit &visit, Value moved,
                 CoreGradients &d);

  /// Adds the outer product of two rows.
  Value outer(Value rows, Value columns, Value onto) {
    return t.generic({{rows, "k"}, {columns, "v"}}, {{onto, "kv"}},
                     [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                       return {s.fma(e[0], e[1], e[2])};
                     })[0];
  }
  /// Sums the products of a matrix and a row up over v.
  Value alongValues(Value matrix, Value row) {
    return t.product({matrix, "kv"}, {row, "v"}, "k", {keys()});
  }
  /// Sums the products of a row and a matrix up over k.
  Value alongKeys(Value row, Value matrix) {
    return t.product({row, "k"}, {matrix, "kv"}, "v", {values()});
  }

  int64_t keys() const { return form.keySize; }
  int64_t values() const { return form.valueSize; }
};

RecurrentForm::Step RecurrentForm::step(const Token &x, Value state, Value o) {
  Step result;
  Value written = x.w;
  if (x.a) {
    SmallVector<Indexed> inputs = {{x.a, "k"}, {state, "kv"}};
    Value factor = form.eraseBeforeDecay ? Value() : x.factor;
    addFactor(inputs, factor);
    Value read =
        t.generic(inputs, {{t.zeros({values()}), "v"}},
                  [&](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                    Value moved = times(s, e[1], factor, e[inputs.size() - 1]);
                    return {s.add(e.back(), s.mul(e[0], moved))};
                  })[0];
    result.read = read;
    if (!x.b) {
      written = t.map(
          {{x.w, "v"}, {read, "v"}}, "v", {values()},
          [](ScalarBuilder &s, ValueRange e) { return s.sub(e[0], e[1]); });
      result.read = written;
    }
  }
  SmallVector<Indexed> inputs = {{x.q, "k"}, {x.k, "k"}, {written, "v"}};
  if (x.b) {
    inputs.push_back({x.b, "k"});
    inputs.push_back({result.read, "v"});
  }
  addFactor(inputs, x.factor);
  SmallVector<Indexed> outputs = {{state, "kv"}};
  if (o)
    outputs.push_back({o, "v"});
  Tiles::Values updated = t.generic(
      inputs, outputs, [&](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
        Value before = e[inputs.size()];
        Value next = times(s, before, x.factor, e[inputs.size() - 1]);
        next = s.fma(e[1], e[2], next);
        if (x.b)
          next = s.fma(e[3], e[4], next);
        if (!o)
          return {next};
        return {next, s.fma(e[0], readsBefore() ? before : next, e.back())};
      });
  result.state = updated[0];
  if (o)
    result.o = updated[1];
  return result;
}

ChunkForm::Outcome RecurrentForm::forward(const CoreTiles &in, Value state,
                                          bool outputs) {
  Value all = factors(in);
  Tiles::Values carried = {state};
  if (outputs)
    carried.push_back(t.zeros({size, values()}));
  carried = t.loop(t.index(0), t.index(size), 1, carried,
                   [&](Value i, ValueRange tiles) -> Tiles::Values {
                     Value o = outputs ? t.entry(tiles[1], i) : Value();
                     Step next = step(token(in, all, i), tiles[0], o);
                     if (!outputs)
                       return {next.state};
                     return {next.state, t.withEntry(tiles[1], i, next.o)};
                   });
  return {outputs ? carried[1] : Value(), carried[0]};
}

RecurrentForm::History RecurrentForm::replay(const CoreTiles &in, Value factors,
                                             Value before) {
  Value states =
      t.withEntry(t.empty({size + 1, keys(), values()}), t.index(0), before);
  Tiles::Values known = {states};
  if (in.a)
    known.push_back(t.empty({size, values()}));
  known =
      t.loop(t.index(0), t.index(size), 1, known,
             [&](Value i, ValueRange tiles) -> Tiles::Values {
               Value before = t.entry(tiles[0], i);
               Step next = step(token(in, factors, i), before, Value());
               Value after = arith::AddIOp::create(t.b, t.loc, i, t.index(1));
               Tiles::Values out = {t.withEntry(tiles[0], after, next.state)};
               if (in.a)
                 out.push_back(t.withEntry(tiles[1], i, next.read));
               return out;
             });
  return {known[0], in.a ? known[1] : Value()};
}

Tiles::Values RecurrentForm::pack(const CoreGradients &d) {
  Tiles::Values tiles = {d.state, d.q, d.k, d.w, d.g, d.a, d.b, d.rates};
  llvm::erase(tiles, Value());
  return tiles;
}

CoreGradients RecurrentForm::unpack(const CoreTiles &in, ValueRange tiles) {
  CoreGradients d;
  d.state = tiles[0];
  d.q = tiles[1];
  d.k = tiles[2];
  d.w = tiles[3];
  size_t at = 4;
  for (auto [tile, gradient] :
       {std::pair(in.g, &d.g), std::pair(in.a, &d.a), std::pair(in.b, &d.b),
        std::pair(in.rates, &d.rates)})
    if (tile)
      *gradient = tiles[at++];
  return d;
}

Value RecurrentForm::decayed(const CoreTiles &in, const Visit &visit) {
  const Token &x = visit.token;
  if (!x.factor || !(in.g || (in.a && !form.eraseBeforeDecay)))
    return visit.before;
  SmallVector<Indexed> inputs = {{visit.before, "kv"}};
  addFactor(inputs, x.factor);
  return t.map(inputs, "kv", {keys(), values()},
               [&](ScalarBuilder &s, ValueRange e) {
                 return times(s, e[0], x.factor, e.back());
               });
}

Value RecurrentForm::readBack(const CoreTiles &in, const Visit &visit,
                              Value moved, CoreGradients &d) {
  Value dRead;
  if (in.b) {
    dRead = alongKeys(visit.token.b, d.state);
    d.b =
        t.withEntry(d.b, visit.i,
                    alongValues(d.state, t.entry(visit.history.read, visit.i)));
  } else {
    // b = -k
    dRead = t.map(t.entry(d.w, visit.i),
                  [](ScalarBuilder &s, ValueRange e) { return s.neg(e[0]); });
  }
  d.a = t.withEntry(
      d.a, visit.i,
      alongValues(form.eraseBeforeDecay ? visit.before : moved, dRead));
  return dRead;
}

void RecurrentForm::ratesBack(const CoreTiles &in, const Visit &visit,
                              Value moved, CoreGradients &d) {
  // What a rate times a time hands on is the gradient of both.
  Tiles::Values sums = t.generic(
      {{d.state, "kv"},
       {moved, "kv"},
       {in.rates, "kv"},
       {t.entry(in.g, visit.i), "v"}},
      {{t.zeros({values()}), "v"}, {d.rates, "kv"}},
      [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
        Value handedOn = s.mul(e[0], e[1]);
        Value zero = s.constant(0, e[2]);
        Value grows = s.less(zero, s.mul(e[2], e[3]));
        handedOn = s.select(grows, zero, handedOn);
        return {s.fma(e[2], handedOn, e[4]), s.fma(e[3], handedOn, e[5])};
      });
  d.g = t.withEntry(d.g, visit.i, sums[0]);
  d.rates = sums[1];
}

void RecurrentForm::decayBack(const CoreTiles &in, const Visit &visit,
                              Value moved, CoreGradients &d) {
  bool whole = Tiles::shape(in.g).size() == 1;
  StringRef kept = form.decayKind == DecayKind::Value ? "v" : "k";
  Value sums = t.product({d.state, "kv"}, {moved, "kv"}, kept,
                         {kept == "v" ? values() : keys()});
  if (whole) {
    // A tensor of no dimensions holds the sum of all.
    Value sum = t.generic({{sums, "k"}}, {{t.zeros({}), ""}},
                          [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                            return {s.add(e[1], e[0])};
                          })[0];
    sums = tensor::ExtractOp::create(t.b, t.loc, sum);
  }
  d.g = t.withEntry(d.g, visit.i, sums);
}

CoreGradients RecurrentForm::stepBack(const CoreTiles &in, const Visit &visit,
                                      CoreGradients d) {
  const Token &x = visit.token;
  // The output, and what was written.
  d.q = t.withEntry(d.q, visit.i, alongValues(visit.seen, visit.dO));
  if (!readsBefore())
    d.state = outer(x.q, visit.dO, d.state);
  d.w = t.withEntry(d.w, visit.i, alongKeys(x.k, d.state));
  Value written = in.a && !in.b ? t.entry(visit.history.read, visit.i) : x.w;
  d.k = t.withEntry(d.k, visit.i, alongValues(d.state, written));

  Value moved = decayed(in, visit);
  Value dRead;
  if (in.a)
    dRead = readBack(in, visit, moved, d);
  if (in.a && !form.eraseBeforeDecay)
    d.state = outer(x.a, dRead, d.state);

  if (in.rates)
    ratesBack(in, visit, moved, d);
  else if (in.g)
    decayBack(in, visit, moved, d);
  if (x.factor) {
    SmallVector<Indexed> factor;
    addFactor(factor, x.factor);
    d.state = t.generic(factor, {{d.state, "kv"}},
                        [&](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                          return {times(s, e.back(), x.factor, e.front())};
                        })[0];
  }
  if (in.a && form.eraseBeforeDecay)
    d.state = outer(x.a, dRead, d.state);
  if (readsBefore())
    d.state = outer(x.q, visit.dO, d.state);
  return d;
}

CoreGradients RecurrentForm::zeroGradients(const CoreTiles &in, Value dState) {
  CoreGradients d;
  d.state = dState;
  d.q = t.zeros({size, keys()});
  d.k = t.zeros({size, keys()});
  d.w = t.zeros({size, values()});
  if (in.g)
    d.g = t.zeros(Tiles::shape(in.g));
  if (in.a)
    d.a = t.zeros({size, keys()});
  if (in.b)
    d.b = t.zeros({size, keys()});
  if (in.rates)
    d.rates = t.zeros({keys(), values()});
  return d;
}

CoreGradients RecurrentForm::backward(const CoreTiles &in, const States &around,
                                      Value dO, Value dState) {
  Value all = factors(in);
  History history = replay(in, all, around.before);
  Tiles::Values carried = pack(zeroGradients(in, dState));
  Value last = t.index(size - 1);
  carried =
      t.loop(t.index(0), t.index(size), 1, carried,
             [&](Value step, ValueRange tiles) -> Tiles::Values {
               Value i = arith::SubIOp::create(t.b, t.loc, last, step);
               Value next = arith::AddIOp::create(t.b, t.loc, i, t.index(1));
               Token x = token(in, all, i);
               Value before = t.entry(history.states, i);
               Value dOut = t.entry(dO, i);
               Value seen =
                   readsBefore() ? before : t.entry(history.states, next);
               return pack(stepBack(in, {history, i, x, before, seen, dOut},
                                    unpack(in, tiles)));
             });
  return unpack(in, carried);
}

} // namespace

std::unique_ptr<ChunkForm> tokenForm(Tiles &t, const Recurrence &form,
                                     int64_t size) {
  return std::make_unique<RecurrentForm>(t, form, size);
}

} // namespace drawloom::linrec
