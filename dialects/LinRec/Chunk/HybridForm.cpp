//===- HybridForm.cpp - which chunks are products of matrices ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product splits exp(G_i - G_j) at a token m in the middle of the chunk. Both
// parts are harmless as long as the decays of either half multiply to more than
// exp(-splitLimit): that follows from a bound, or is looked up for each chunk.
// What is not harmless goes token after token, in which nothing is split.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Chunk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// f32 has room up to 88; operands and sums need some of it.
constexpr double splitLimit = 40;

class HybridForm : public ChunkForm {
public:
  HybridForm(Tiles &t, const Recurrence &form, int64_t size)
      : ChunkForm(t, form, size), products(matrixForm(t, form, size)),
        tokens(tokenForm(t, form, size)) {}

  SmallVector<SmallVector<int64_t>> keptShapes() override {
    return always() == products.get() ? products->keptShapes()
                                      : SmallVector<SmallVector<int64_t>>{};
  }

  Outcome forward(const CoreTiles &in, Value state, bool outputs) override {
    if (ChunkForm *form = always())
      return form->forward(in, state, outputs);
    Tiles::Values values = either(in, [&](ChunkForm &chosen) -> Tiles::Values {
      Outcome out = chosen.forward(in, state, outputs);
      if (!outputs)
        return {out.state};
      return {out.state, out.o};
    });
    return {outputs ? values[1] : Value(), values[0]};
  }

  CoreGradients backward(const CoreTiles &in, const States &states, Value dO,
                         Value dState) override {
    if (ChunkForm *form = always())
      return form->backward(in, states, dO, dState);
    constexpr Value CoreGradients::*all[] = {
        &CoreGradients::state, &CoreGradients::q,    &CoreGradients::k,
        &CoreGradients::w,     &CoreGradients::g,    &CoreGradients::a,
        &CoreGradients::b,     &CoreGradients::rates};
    Tiles::Values values = either(in, [&](ChunkForm &chosen) -> Tiles::Values {
      CoreGradients d = chosen.backward(in, states, dO, dState);
      Tiles::Values found;
      for (auto each : all)
        if (d.*each)
          found.push_back(d.*each);
      return found;
    });
    CoreGradients d;
    size_t at = 0;
    for (auto each : all) {
      bool there = (each != &CoreGradients::g || in.g) &&
                   (each != &CoreGradients::a || in.a) &&
                   (each != &CoreGradients::b || in.b) &&
                   (each != &CoreGradients::rates || in.rates);
      if (there)
        d.*each = values[at++];
    }
    return d;
  }

private:
  /// Whether the decays of both halves stay above exp(-splitLimit).
  Value isMild(Value g) {
    int64_t keys = Tiles::shape(g)[1];
    auto sumOfHalf = [&](int64_t from) -> Value {
      Value half = tensor::ExtractSliceOp::create(
          t.b, t.loc, RankedTensorType::get({size / 2, keys}, t.element), g,
          ArrayRef<OpFoldResult>{t.b.getIndexAttr(from), t.b.getIndexAttr(0)},
          ArrayRef<OpFoldResult>{t.b.getIndexAttr(size / 2),
                                 t.b.getIndexAttr(keys)},
          ArrayRef<OpFoldResult>{t.b.getIndexAttr(1), t.b.getIndexAttr(1)});
      return t.generic({{half, "ck"}}, {{t.zeros({keys}), "k"}},
                       [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                         return {s.add(e[1], e[0])};
                       })[0];
    };
    Value first = sumOfHalf(0), second = sumOfHalf(size / 2);
    Value least =
        t.generic({{first, "k"}, {second, "k"}}, {{t.zeros({}), ""}},
                  [](ScalarBuilder &s, ValueRange e) -> Tiles::Values {
                    Value lower = s.minimum(e[0], e[1]);
                    return {s.minimum(lower, e[2])};
                  })[0];
    Value number = tensor::ExtractOp::create(t.b, t.loc, least);
    // Not for NaN either.
    return arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OGE, number,
                                 t.number(-splitLimit));
  }

  /// The form of all chunks, if there is one.
  ChunkForm *always() {
    // The token form knows decays along values, and has nothing to do for
    // tokens that are not there.
    if (form.decayKind == DecayKind::Value || size == 1)
      return tokens.get();
    if (form.decayKind != DecayKind::Key || isMildByBound(form, size))
      return products.get();
    return nullptr;
  }

  Tiles::Values either(const CoreTiles &in,
                       llvm::function_ref<Tiles::Values(ChunkForm &)> write) {
    auto branch = [&](ChunkForm &chosen) {
      return [&](OpBuilder &nested, Location) {
        OpBuilder::InsertionGuard guard(t.b);
        t.b.setInsertionPoint(nested.getInsertionBlock(),
                              nested.getInsertionPoint());
        scf::YieldOp::create(t.b, t.loc, write(chosen));
      };
    };
    auto choice = scf::IfOp::create(t.b, t.loc, isMild(in.g), branch(*products),
                                    branch(*tokens));
    return Tiles::Values(choice.getResults());
  }

  std::unique_ptr<ChunkForm> products, tokens;
};

} // namespace

bool isMildByBound(const Recurrence &form, int64_t size) {
  return form.decayBound && *form.decayBound * size / 2 >= -splitLimit;
}

std::unique_ptr<ChunkForm> splitForm(Tiles &t, const Recurrence &form,
                                     int64_t size) {
  return std::make_unique<HybridForm>(t, form, size);
}

} // namespace drawloom::linrec
