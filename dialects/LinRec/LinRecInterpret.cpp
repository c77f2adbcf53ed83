//===- LinRecInterpret.cpp - recurrences token by token, in double --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definition, in the order of the formulas of LinRecOps.td: no chunks, no
// closed forms, nothing that a lowering does.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Chunk/Recurrence.h"

using namespace mlir;

namespace drawloom::linrec {

namespace {

/// Operands by name, and where their rows lie.
struct Operands {
  Operands(const Recurrence &form, ArrayRef<HostTensor> all) : form(form) {
    auto next = [&](Value value) -> const HostTensor * {
      return value ? &all[used++] : nullptr;
    };
    q = next(form.q), k = next(form.k), v = next(form.v);
    decay = next(form.decay), rates = next(form.rates), beta = next(form.beta),
    erase = next(form.erase);
    lowrank = next(form.lowrank), bonus = next(form.bonus);
    initial = next(form.initial), starts = next(form.starts);
  }

  int64_t sequences() const { return starts ? starts->dim(0) - 1 : v->dim(0); }
  int64_t tokens() const { return v->dim(1) / form.steps; }
  int64_t batch(int64_t sequence) const { return starts ? 0 : sequence; }
  /// The steps of a sequence, of which each token has `form.steps`.
  int64_t begin(int64_t sequence) const {
    return starts ? form.steps * starts->i({sequence}) : 0;
  }
  int64_t end(int64_t sequence) const {
    return form.steps * (starts ? starts->i({sequence + 1}) : tokens());
  }

  /// Of a token of a sequence and a head of the state, the first element of its
  /// row in a tensor [B, T, heads(, size)]; heads may be shared.
  static int64_t row(const HostTensor &x, int64_t batch, int64_t token,
                     int64_t head, int64_t heads) {
    int64_t own = head * x.dim(2) / heads;
    int64_t size = x.rank() == 4 ? x.dim(3) : 1;
    return ((batch * x.dim(1) + token) * x.dim(2) + own) * size;
  }

  const Recurrence &form;
  const HostTensor *q, *k, *v, *decay, *rates, *beta, *erase, *lowrank, *bonus;
  const HostTensor *initial, *starts;
  size_t used = 0;
};

LogicalResult checkStarts(Operation *op, const HostTensor *packed,
                          int64_t batch, int64_t tokens) {
  if (!packed)
    return success();
  if (batch != 1)
    return op->emitOpError() << "with starts, all sequences are packed into "
                             << "one batch entry, but there are " << batch;
  ArrayRef<int64_t> starts = packed->i();
  if (starts.front() != 0 || starts.back() != tokens)
    return op->emitOpError()
           << "starts must go from 0 to the number of tokens, " << tokens
           << ", but go from " << starts.front() << " to " << starts.back();
  for (size_t i = 1; i < starts.size(); ++i)
    if (starts[i] < starts[i - 1])
      return op->emitOpError()
             << "starts must not decrease, but entry " << i << " is "
             << starts[i] << " after " << starts[i - 1];
  return success();
}

LogicalResult expectExtent(Operation *op, const HostTensor *x, int64_t dim,
                           StringRef name, int64_t wanted) {
  if (!x || x->dim(dim) == wanted)
    return success();
  return op->emitOpError() << name << " is given with extent " << x->dim(dim)
                           << " in dimension " << dim << ", and v asks for "
                           << wanted;
}

/// What types leave open has to be the same here.
LogicalResult checkExtents(Operation *op, const Operands &in) {
  bool perHead = in.decay && in.decay->rank() < 3;
  int64_t batch = in.v->dim(0), steps = in.v->dim(1), tokens = in.tokens();
  struct {
    const HostTensor *x;
    StringRef name;
    int64_t rows;
  } perToken[] = {{in.q, "q", tokens},
                  {in.k, "k", steps},
                  {perHead ? nullptr : in.decay, "decay", tokens},
                  {in.beta, "beta", steps},
                  {in.erase, "erase", steps},
                  {in.lowrank, "lowrank", steps}};
  for (const auto &one : perToken)
    if (failed(expectExtent(op, one.x, 0, one.name, batch)) ||
        failed(expectExtent(op, one.x, 1, one.name, one.rows)))
      return failure();
  if (failed(expectExtent(op, in.initial, 0, "initial", in.sequences())))
    return failure();
  return checkStarts(op, in.starts, batch, tokens);
}

/// Everything about one step of one head, as rows.
struct Token {
  Token(const Operands &in, int64_t batch, int64_t token, int64_t head)
      : form(in.form), batch(batch), token(token), head(head) {
    keySize = form.keySize, valueSize = form.valueSize;
    q = isRead() ? take(*in.q, token / form.steps)
                 : std::vector<double>(keySize, 0.0);
    k = take(*in.k, token), v = take(*in.v, token);
    beta = in.beta ? take(*in.beta, token)[0] : 1.0;
    if (in.erase)
      a = take(*in.erase, token);
    else if (in.beta)
      for (double x : k)
        a.push_back(beta * x);
    if (in.lowrank)
      b = take(*in.lowrank, token);
    else if (form.erases())
      for (double x : k)
        b.push_back(-x);
    for (double x : v)
      written.push_back(beta * x);
    if (in.bonus)
      bonus = in.bonus->f().slice(head * keySize, keySize);
    if (in.rates)
      rates =
          in.rates->f().slice(head * keySize * valueSize, keySize * valueSize);
    // Only the first step of a token decays.
    if (!in.decay || token % form.steps != 0)
      return;
    if (form.decayKind == DecayKind::Constant)
      decay = {in.decay->f()[head]};
    else
      decay = take(*in.decay, token / form.steps);
  }

  /// Whether a query reads after the step.
  bool isRead() const { return (token + 1) % form.steps == 0; }

  std::vector<double> take(const HostTensor &x, int64_t at) const {
    int64_t first = Operands::row(x, batch, at, head, form.heads);
    int64_t size = x.rank() == 4 ? x.dim(3) : 1;
    ArrayRef<double> row = x.f().slice(first, size);
    return std::vector<double>(row.begin(), row.end());
  }

  /// Which of the token's decays acts on element (i, j) of the state.
  int64_t decayAt(int64_t i, int64_t j) const {
    if (form.decayKind == DecayKind::Key)
      return i;
    return form.decayKind == DecayKind::Value ? j : 0;
  }
  double rateAt(int64_t i, int64_t j) const {
    return rates.empty() ? 1.0 : rates[i * valueSize + j];
  }
  /// The log-decay of element (i, j) of the state, where there is a decay.
  double exponent(int64_t i, int64_t j) const {
    return rateAt(i, j) * decay[decayAt(i, j)];
  }
  /// A NaN stays one.
  double factor(int64_t i, int64_t j) const {
    if (decay.empty())
      return 1.0;
    double g = exponent(i, j);
    return g > 0 ? 1.0 : std::exp(g);
  }

  const Recurrence &form;
  int64_t batch, token, head, keySize, valueSize;
  std::vector<double> q, k, v, a, b, written, decay;
  ArrayRef<double> bonus, rates;
  double beta;
};

using State = std::vector<double>; // [K, V]

/// row x, of length K, times a state.
std::vector<double> times(ArrayRef<double> x, const State &s, int64_t size) {
  std::vector<double> y(size, 0.0);
  for (size_t i = 0; i < x.size(); ++i)
    for (int64_t j = 0; j < size; ++j)
      y[j] += x[i] * s[i * size + j];
  return y;
}

/// A state times column y, of length V.
std::vector<double> times(const State &s, ArrayRef<double> y) {
  int64_t size = y.size();
  std::vector<double> x(s.size() / size, 0.0);
  for (size_t i = 0; i < x.size(); ++i)
    for (int64_t j = 0; j < size; ++j)
      x[i] += s[i * size + j] * y[j];
  return x;
}

/// s += scale x^T y
void addProduct(State &s, ArrayRef<double> x, ArrayRef<double> y,
                double scale = 1.0) {
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < y.size(); ++j)
      s[i * y.size() + j] += scale * x[i] * y[j];
}

double dot(ArrayRef<double> x, ArrayRef<double> y) {
  double sum = 0;
  for (auto [a, b] : llvm::zip_equal(x, y))
    sum += a * b;
  return sum;
}

State decayed(const Token &t, const State &s) {
  State result = s;
  for (int64_t i = 0; i < t.keySize; ++i)
    for (int64_t j = 0; j < t.valueSize; ++j)
      result[i * t.valueSize + j] *= t.factor(i, j);
  return result;
}

/// The state after a token; `read` becomes what it reads off (e_t).
State step(const Token &t, const State &before, std::vector<double> &read) {
  State s = decayed(t, before);
  if (!t.a.empty()) {
    read = times(t.a, t.form.eraseBeforeDecay ? before : s, t.valueSize);
    addProduct(s, t.b, read);
  }
  addProduct(s, t.k, t.written);
  return s;
}

/// sum_d q_d u_d k_d
double bonusOf(const Token &t) {
  double sum = 0;
  for (int64_t i = 0; i < t.keySize; ++i)
    sum += t.q[i] * t.bonus[i] * t.k[i];
  return sum;
}

State initialState(const Operands &in, int64_t sequence, int64_t head) {
  int64_t size = in.form.keySize * in.form.valueSize;
  if (!in.initial)
    return State(size, 0.0);
  ArrayRef<double> s =
      in.initial->f().slice((sequence * in.form.heads + head) * size, size);
  return State(s.begin(), s.end());
}

template <typename Row> void addTo(MutableArrayRef<double> sum, const Row &x) {
  for (auto [s, value] : llvm::zip_equal(sum, x))
    s += value;
}

/// The gradients of one head of one sequence, added to those of the operands.
struct Reverse {
  const Operands &in;
  SmallVectorImpl<HostTensor> &gradients;
  const HostTensor &dO;

  /// The gradient of an operand, null for one that is absent.
  HostTensor *of(const HostTensor *operand) {
    int64_t position = 0;
    for (const HostTensor *each :
         {in.q, in.k, in.v, in.decay, in.rates, in.beta, in.erase, in.lowrank,
          in.bonus, in.initial})
      if (each && each == operand)
        return &gradients[position];
      else
        position += each != nullptr;
    return nullptr;
  }
  void add(const HostTensor *operand, const Token &t, ArrayRef<double> x) {
    bool ofToken = operand == in.q || operand == in.decay;
    int64_t row = ofToken ? t.token / in.form.steps : t.token;
    int64_t at = Operands::row(*operand, t.batch, row, t.head, in.form.heads);
    addTo(of(operand)->mutableF().slice(at, x.size()), x);
  }

  /// Goes back over a token: `d` is the gradient of the state after it, and
  /// becomes that of the state before, which is `before`.
  void token(const Token &t, const State &before, const State &after,
             ArrayRef<double> read, State &d) {
    const Recurrence &form = in.form;
    std::vector<double> dOut(t.valueSize, 0.0);
    if (t.isRead()) {
      int64_t at =
          Operands::row(dO, t.batch, t.token / form.steps, t.head, form.heads);
      for (int64_t j = 0; j < t.valueSize; ++j)
        dOut[j] = form.scale * dO.f()[at + j];
    }
    std::vector<double> dq(t.keySize), dk(t.keySize), dv(t.valueSize, 0.0);
    if (t.bonus.empty()) {
      dq = times(after, dOut);
      addProduct(d, t.q, dOut);
    }
    State moved = decayed(t, before);
    dk = times(d, t.written);
    dv = times(t.k, d, t.valueSize);
    State dBefore(d.size(), 0.0);
    if (!t.a.empty()) {
      std::vector<double> dRead = times(t.b, d, t.valueSize);
      std::vector<double> db = times(d, read);
      std::vector<double> da =
          times(form.eraseBeforeDecay ? before : moved, dRead);
      addProduct(form.eraseBeforeDecay ? dBefore : d, t.a, dRead);
      if (in.lowrank)
        add(in.lowrank, t, db);
      else
        for (auto [x, y] : llvm::zip_equal(dk, db))
          x -= y;
      if (in.erase) {
        add(in.erase, t, da);
      } else {
        double dBeta = dot(t.k, da) + dot(t.v, dv);
        add(in.beta, t, {dBeta});
        for (auto [x, y] : llvm::zip_equal(dk, da))
          x += t.beta * y;
        for (double &x : dv)
          x *= t.beta;
      }
    }
    if (!t.decay.empty())
      decay(t, d, moved);
    for (int64_t i = 0; i < t.keySize; ++i)
      for (int64_t j = 0; j < t.valueSize; ++j)
        dBefore[i * t.valueSize + j] += t.factor(i, j) * d[i * t.valueSize + j];
    d = dBefore;
    if (!t.bonus.empty()) {
      dq = times(before, dOut);
      addProduct(d, t.q, dOut);
      double weight = dot(dOut, t.v), bonus = bonusOf(t);
      std::vector<double> du(t.keySize);
      for (int64_t i = 0; i < t.keySize; ++i) {
        dq[i] += weight * t.bonus[i] * t.k[i];
        dk[i] += weight * t.bonus[i] * t.q[i];
        du[i] = weight * t.q[i] * t.k[i];
      }
      for (int64_t j = 0; j < t.valueSize; ++j)
        dv[j] += bonus * dOut[j];
      addTo(of(in.bonus)->mutableF().slice(t.head * t.keySize, t.keySize), du);
    }
    if (t.isRead())
      add(in.q, t, dq);
    add(in.k, t, dk);
    add(in.v, t, dv);
  }

  void decay(const Token &t, const State &d, const State &moved) {
    std::vector<double> dg(t.decay.size(), 0.0);
    std::vector<double> dRates(t.rates.size(), 0.0);
    for (int64_t i = 0; i < t.keySize; ++i)
      for (int64_t j = 0; j < t.valueSize; ++j) {
        if (t.exponent(i, j) > 0)
          continue;
        int64_t at = i * t.valueSize + j;
        double handedOn = d[at] * moved[at];
        dg[t.decayAt(i, j)] += t.rateAt(i, j) * handedOn;
        if (in.rates)
          dRates[at] += t.decay[t.decayAt(i, j)] * handedOn;
      }
    if (in.rates)
      addTo(
          of(in.rates)->mutableF().slice(t.head * dRates.size(), dRates.size()),
          dRates);
    if (in.form.decayKind == DecayKind::Constant)
      of(in.decay)->mutableF()[t.head] += dg[0];
    else
      add(in.decay, t, dg);
  }
};

} // namespace

static LogicalResult interpretScan(Operation *op, const Recurrence &form,
                                   ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  Operands in(form, operands);
  if (failed(checkExtents(op, in)))
    return failure();
  SmallVector<int64_t> shape(in.v->shape());
  if (form.steps > 1)
    shape[1] /= form.steps;
  HostTensor out(/*isFloat=*/true, shape);
  HostTensor final(/*isFloat=*/true,
                   {in.sequences(), form.heads, form.keySize, form.valueSize});
  MutableArrayRef<double> o = out.mutableF(), states = final.mutableF();
  for (int64_t n = 0; n < in.sequences(); ++n)
    for (int64_t h = 0; h < form.heads; ++h) {
      State s = initialState(in, n, h);
      for (int64_t at = in.begin(n); at < in.end(n); ++at) {
        Token t(in, in.batch(n), at, h);
        std::vector<double> read;
        State next = step(t, s, read);
        s.swap(next);
        if (!t.isRead())
          continue;
        std::vector<double> y = times(t.q, in.bonus ? next : s, form.valueSize);
        double bonus = in.bonus ? bonusOf(t) : 0.0;
        int64_t row =
            Operands::row(out, t.batch, at / form.steps, h, form.heads);
        for (int64_t j = 0; j < form.valueSize; ++j)
          o[row + j] = form.scale * (in.bonus ? y[j] + bonus * t.v[j] : y[j]);
      }
      llvm::copy(s, states.begin() + (n * form.heads + h) * s.size());
    }
  results.push_back(out);
  results.push_back(final);
  return success();
}

LogicalResult ScanOp::interpret(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return interpretScan(*this, Recurrence(*this), operands, results);
}

LogicalResult StepOp::interpret(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  Recurrence form(*this);
  SmallVector<HostTensor> sequence(operands);
  size_t used = 0;
  for (auto [value, perToken] : form.perToken()) {
    if (!value)
      continue;
    HostTensor &tensor = sequence[used++];
    SmallVector<int64_t> shape(tensor.shape());
    shape.insert(shape.begin() + 1, 1);
    if (perToken)
      tensor = tensor.reshaped(shape);
  }
  if (failed(interpretScan(*this, form, sequence, results)))
    return failure();
  results[0] = results[0].reshaped(operands[2].shape());
  return success();
}

LogicalResult EwScanOp::interpret(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  size_t used = 0;
  auto next = [&](Value value) -> const HostTensor * {
    return value ? &operands[used++] : nullptr;
  };
  const HostTensor *x = next(getX()), *decay = next(getDecay());
  const HostTensor *rates = next(getRates()), *write = next(getWrite());
  const HostTensor *read = next(getRead()), *initial = next(getInitial());
  const HostTensor *starts = next(getStarts());
  if (failed(checkStarts(*this, starts, x->dim(0), x->dim(1))))
    return failure();
  int64_t sequences = starts ? starts->dim(0) - 1 : x->dim(0);
  int64_t channels = x->dim(2), numbers = rates ? rates->dim(1) : 1;
  HostTensor y(/*isFloat=*/true, x->shape());
  SmallVector<int64_t> shape = {sequences, channels};
  if (rates)
    shape.push_back(numbers);
  HostTensor final = initial ? *initial : HostTensor(/*isFloat=*/true, shape);
  MutableArrayRef<double> out = y.mutableF(), states = final.mutableF();
  for (int64_t s = 0; s < sequences; ++s) {
    int64_t batch = starts ? 0 : s;
    int64_t end = starts ? starts->i({s + 1}) : x->dim(1);
    for (int64_t at = starts ? starts->i({s}) : 0; at < end; ++at)
      for (int64_t d = 0; d < channels; ++d) {
        int64_t own = x->offset({batch, at, d});
        double sum = 0;
        for (int64_t n = 0; n < numbers; ++n) {
          double &h = states[(s * channels + d) * numbers + n];
          double g = decay->f()[own] * (rates ? rates->f({d, n}) : 1.0);
          h *= g > 0 ? 1.0 : std::exp(g);
          h += x->f()[own] * (rates ? write->f({batch, at, n}) : 1.0);
          sum += h * (rates ? read->f({batch, at, n}) : 1.0);
        }
        out[own] = sum;
      }
  }
  results.push_back(y);
  results.push_back(final);
  return success();
}

LogicalResult ScanBwdOp::interpret(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  Recurrence form(*this);
  Operands in(form, operands);
  if (failed(checkExtents(*this, in)))
    return failure();
  const HostTensor &dO = operands[in.used];
  const HostTensor *dFinal = getDFinal() ? &operands[in.used + 1] : nullptr;
  if (failed(expectExtent(*this, &dO, 0, "the cotangent of o", in.v->dim(0))) ||
      failed(expectExtent(*this, &dO, 1, "the cotangent of o", in.tokens())) ||
      failed(expectExtent(*this, dFinal, 0, "the cotangent of the final state",
                          in.sequences())))
    return failure();
  for (const HostTensor *each : {in.q, in.k, in.v, in.decay, in.rates, in.beta,
                                 in.erase, in.lowrank, in.bonus, in.initial})
    if (each)
      results.push_back(HostTensor(/*isFloat=*/true, each->shape()));
  Reverse reverse{in, results, dO};
  int64_t size = form.keySize * form.valueSize;
  for (int64_t n = 0; n < in.sequences(); ++n)
    for (int64_t h = 0; h < form.heads; ++h) {
      int64_t begin = in.begin(n), end = in.end(n);
      std::vector<State> states = {initialState(in, n, h)};
      std::vector<std::vector<double>> read(end - begin);
      for (int64_t at = begin; at < end; ++at)
        states.push_back(step(Token(in, in.batch(n), at, h), states.back(),
                              read[at - begin]));
      State d(size, 0.0);
      if (dFinal)
        addTo(MutableArrayRef<double>(d),
              dFinal->f().slice((n * form.heads + h) * size, size));
      for (int64_t at = end; at-- > begin;)
        reverse.token(Token(in, in.batch(n), at, h), states[at - begin],
                      states[at - begin + 1], read[at - begin], d);
      if (in.initial)
        addTo(reverse.of(in.initial)
                  ->mutableF()
                  .slice((n * form.heads + h) * size, size),
              d);
    }
  return success();
}

namespace {

/// A short convolution on the operands that it has, token by token.
struct ConvOperands {
  template <typename Op>
  ConvOperands(Op op, ArrayRef<HostTensor> all)
      : silu(op.getActivation() == ConvActivation::Silu) {
    size_t used = 0;
    auto next = [&](Value value) -> const HostTensor * {
      return value ? &all[used++] : nullptr;
    };
    x = next(op.getX()), weight = next(op.getWeight());
    bias = next(op.getBias()), initial = next(op.getInitial());
    starts = next(op.getStarts());
    rest = all.drop_front(used);
    tokens = x->dim(1);
    width = weight->shape().back();
    channels = weight->size() / width;
    sequences = starts ? starts->dim(0) - 1 : x->dim(0);
  }

  /// The first token of a sequence, as a row of x, and how many it has.
  int64_t first(int64_t n) const {
    return starts ? starts->i({n}) : n * tokens;
  }
  int64_t length(int64_t n) const {
    return starts ? starts->i({n + 1}) - starts->i({n}) : tokens;
  }

  /// Where token t of sequence n, or with a negative t one of its state, is:
  /// in x or in `initial`.
  std::pair<bool, int64_t> find(int64_t n, int64_t t, int64_t d) const {
    if (t >= 0)
      return {true, (first(n) + t) * channels + d};
    return {false, (n * (width - 1) + width - 1 + t) * channels + d};
  }
  double token(int64_t n, int64_t t, int64_t d) const {
    auto [isToken, at] = find(n, t, d);
    return isToken ? x->f()[at] : initial ? initial->f()[at] : 0.0;
  }
  /// Before the activation.
  double sum(int64_t n, int64_t t, int64_t d) const {
    double z = bias ? bias->f()[d] : 0.0;
    for (int64_t j = 0; j < width; ++j)
      z += weight->f()[d * width + width - 1 - j] * token(n, t - j, d);
    return z;
  }

  SmallVector<int64_t> stateShape() const {
    SmallVector<int64_t> shape(x->shape());
    shape[0] = sequences, shape[1] = width - 1;
    return shape;
  }

  bool silu;
  const HostTensor *x, *weight, *bias, *initial, *starts;
  ArrayRef<HostTensor> rest;
  int64_t tokens, width, channels, sequences;
};

} // namespace

LogicalResult ShortConvOp::interpret(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  ConvOperands in(*this, operands);
  if (failed(checkStarts(*this, in.starts, in.x->dim(0), in.tokens)))
    return failure();
  HostTensor y(/*isFloat=*/true, in.x->shape());
  HostTensor final(/*isFloat=*/true, in.stateShape());
  MutableArrayRef<double> out = y.mutableF(), states = final.mutableF();
  for (int64_t n = 0; n < in.sequences; ++n)
    for (int64_t d = 0; d < in.channels; ++d) {
      for (int64_t t = 0; t < in.length(n); ++t) {
        double z = in.sum(n, t, d);
        out[in.find(n, t, d).second] = in.silu ? z / (1 + std::exp(-z)) : z;
      }
      for (int64_t i = 1; i < in.width; ++i)
        states[in.find(n, -i, d).second] = in.token(n, in.length(n) - i, d);
    }
  results.push_back(y);
  results.push_back(final);
  return success();
}

LogicalResult ShortConvBwdOp::interpret(ArrayRef<HostTensor> operands,
                                        SmallVectorImpl<HostTensor> &results) {
  ConvOperands in(*this, operands);
  if (failed(checkStarts(*this, in.starts, in.x->dim(0), in.tokens)))
    return failure();
  const HostTensor &dY = in.rest[0];
  const HostTensor *dFinal = getDFinal() ? &in.rest[1] : nullptr;
  for (const HostTensor *each : {in.x, in.weight, in.bias, in.initial})
    if (each)
      results.push_back(HostTensor(/*isFloat=*/true, each->shape()));
  MutableArrayRef<double> dX = results[0].mutableF();
  MutableArrayRef<double> dWeight = results[1].mutableF(), dBias, dInitial;
  if (in.bias)
    dBias = results[2].mutableF();
  if (in.initial)
    dInitial = results.back().mutableF();
  for (int64_t n = 0; n < in.sequences; ++n)
    for (int64_t d = 0; d < in.channels; ++d) {
      auto add = [&](int64_t t, double value) {
        auto [isToken, at] = in.find(n, t, d);
        if (isToken)
          dX[at] += value;
        else if (in.initial)
          dInitial[at] += value;
      };
      for (int64_t t = 0; t < in.length(n); ++t) {
        double g = dY.f()[in.find(n, t, d).second];
        if (in.silu) {
          double z = in.sum(n, t, d), share = 1 / (1 + std::exp(-z));
          g *= share * (1 + z * (1 - share));
        }
        if (in.bias)
          dBias[d] += g;
        for (int64_t j = 0; j < in.width; ++j) {
          int64_t column = d * in.width + in.width - 1 - j;
          dWeight[column] += g * in.token(n, t - j, d);
          add(t - j, g * in.weight->f()[column]);
        }
      }
      for (int64_t i = 1; dFinal && i < in.width; ++i)
        add(in.length(n) - i, dFinal->f()[in.find(n, -i, d).second]);
    }
  return success();
}

} // namespace drawloom::linrec
