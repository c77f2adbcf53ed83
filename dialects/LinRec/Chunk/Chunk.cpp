//===- Chunk.cpp - what all forms of a chunk have in common ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Chunk.h"

using namespace mlir;

namespace drawloom::linrec {

static CoreTiles coreOf(Tiles &t, const Recurrence &form,
                        const ChunkTiles &in) {
  CoreTiles core;
  core.k = in.k;
  core.q = t.map(in.q, [&](ScalarBuilder &s, ValueRange x) {
    return s.mul(x[0], form.scale);
  });
  core.w = in.v;
  core.a = in.erase;
  core.b = in.lowrank;
  if (in.beta) {
    auto times = [](ScalarBuilder &s, ValueRange x) {
      return s.mul(x[0], x[1]);
    };
    core.a =
        t.map({{in.k, "ck"}, {in.beta, "c"}}, "ck", Tiles::shape(in.k), times);
    core.w =
        t.map({{in.v, "cv"}, {in.beta, "c"}}, "cv", Tiles::shape(in.v), times);
  }
  core.rates = in.rates;
  if (in.rates)
    core.g = in.decay;
  else if (in.decay)
    core.g = t.map(in.decay, [](ScalarBuilder &s, ValueRange x) {
      return s.minimum(x[0], s.constant(0, x[0]));
    });
  return core;
}

/// c_t = sum_d q_td u_d k_td
static Value bonusOf(Tiles &t, const ChunkTiles &in, const CoreTiles &core) {
  ArrayRef<int64_t> tokens = Tiles::shape(in.q).take_front(1);
  return t.generic({{core.q, "ck"}, {in.bonus, "k"}, {in.k, "ck"}},
                   {{t.zeros(tokens), "c"}},
                   [](ScalarBuilder &s, ValueRange x) -> Tiles::Values {
                     Value weighted = s.mul(x[0], x[1]);
                     return {s.add(x[3], s.mul(weighted, x[2]))};
                   })[0];
}

ChunkForm::Outcome chunkForward(Tiles &t, const Recurrence &form,
                                ChunkForm &core, const ChunkTiles &in,
                                Value state, bool outputs) {
  CoreTiles tiles = coreOf(t, form, in);
  ChunkForm::Outcome result = core.forward(tiles, state, outputs);
  if (outputs && in.bonus)
    result.o =
        t.map({{result.o, "cv"}, {bonusOf(t, in, tiles), "c"}, {in.v, "cv"}},
              "cv", Tiles::shape(in.v), [](ScalarBuilder &s, ValueRange x) {
                return s.fma(x[1], x[2], x[0]);
              });
  return result;
}

namespace {

/// From the core's gradients to those of the operands.
struct Postlude {
  Tiles &t;
  const Recurrence &form;
  const ChunkTiles &in;
  const CoreTiles &core;

  /// sum += x y along rows, for each token
  Value rowSums(Value x, Value y, Value sum) {
    return t.product({x, "cx"}, {y, "cx"}, {sum, "c"});
  }

  void bonus(Value dO, ChunkGradients &out, Value &dq) {
    ArrayRef<int64_t> keys = Tiles::shape(in.q), values = Tiles::shape(in.v);
    Value weight = rowSums(dO, in.v, t.zeros(keys.take_front(1)));
    Value own = bonusOf(t, in, core);
    auto addThree = [](ScalarBuilder &s, ValueRange x) {
      Value product = s.mul(x[1], x[2]);
      return s.fma(product, x[3], x[0]);
    };
    dq = t.map({{dq, "ck"}, {weight, "c"}, {in.bonus, "k"}, {in.k, "ck"}}, "ck",
               keys, addThree);
    out.k =
        t.map({{out.k, "ck"}, {weight, "c"}, {in.bonus, "k"}, {core.q, "ck"}},
              "ck", keys, addThree);
    out.v = t.map(
        {{out.v, "cv"}, {own, "c"}, {dO, "cv"}}, "cv", values,
        [](ScalarBuilder &s, ValueRange x) { return s.fma(x[1], x[2], x[0]); });
    out.bonus = t.generic({{weight, "c"}, {core.q, "ck"}, {in.k, "ck"}},
                          {{t.zeros(keys.drop_front()), "k"}},
                          [](ScalarBuilder &s, ValueRange x) -> Tiles::Values {
                            Value product = s.mul(x[0], x[1]);
                            return {s.add(x[3], s.mul(product, x[2]))};
                          })[0];
  }

  void beta(const CoreGradients &d, ChunkGradients &out) {
    ArrayRef<int64_t> keys = Tiles::shape(in.q), values = Tiles::shape(in.v);
    Value ofErase = rowSums(in.k, d.a, t.zeros(keys.take_front(1)));
    out.beta = rowSums(in.v, d.w, ofErase);
    out.k = t.map(
        {{out.k, "ck"}, {in.beta, "c"}, {d.a, "ck"}}, "ck", keys,
        [](ScalarBuilder &s, ValueRange x) { return s.fma(x[1], x[2], x[0]); });
    out.v =
        t.map({{d.w, "cv"}, {in.beta, "c"}}, "cv", values,
              [](ScalarBuilder &s, ValueRange x) { return s.mul(x[0], x[1]); });
  }
};

} // namespace

ChunkGradients chunkBackward(Tiles &t, const Recurrence &form, ChunkForm &core,
                             const ChunkTiles &in,
                             const ChunkForm::States &states, Value dO,
                             Value dState) {
  CoreTiles tiles = coreOf(t, form, in);
  CoreGradients d = core.backward(tiles, states, dO, dState);
  ChunkGradients out;
  Postlude postlude{t, form, in, tiles};
  out.state = d.state;
  out.k = d.k;
  out.v = d.w;
  Value dq = d.q;
  if (in.bonus)
    postlude.bonus(dO, out, dq);
  out.q = t.map(dq, [&](ScalarBuilder &s, ValueRange x) {
    return s.mul(x[0], form.scale);
  });
  if (in.beta)
    postlude.beta(d, out);
  else
    out.erase = d.a;
  out.lowrank = d.b;
  out.rates = d.rates;
  if (in.rates) {
    out.decay = d.g;
  } else if (in.decay) {
    StringRef loops = StringRef("cx").take_front(Tiles::shape(d.g).size());
    // A decay that was cut off at 0 does not count; NaN goes on.
    out.decay = t.map({{in.decay, loops}, {d.g, loops}}, loops,
                      Tiles::shape(d.g), [](ScalarBuilder &s, ValueRange x) {
                        Value zero = s.constant(0, x[0]);
                        return s.select(s.less(zero, x[0]), zero, x[1]);
                      });
  }
  return out;
}

} // namespace drawloom::linrec
