//===- RecurrenceOps.cpp - recurrent cells along tokens -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// linrec.nonlinear_scan is executed token after token. With `newton`, the
// iteration is done as well, for its report; Jacobians are central differences.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/LinRec.h"
#include "lib/Interpreter/Machine.h"
#include <cmath>

using namespace mlir;

namespace drawloom::interpreter {

namespace {

using Numbers = std::vector<double>;

/// One execution of a linrec.nonlinear_scan.
class ScanRun {
public:
  explicit ScanRun(Call &call)
      : call(call), op(call.as<linrec::NonlinearScanOp>()),
        states(op.numStates()), inputs(op.getInputs().size()),
        parameters(op.getParameters().size()) {}
  LogicalResult run();

private:
  LogicalResult start();
  /// What the cell of a channel yields at a token for these states before it.
  FailureOr<Numbers> cell(int64_t sequence, int64_t token, int64_t channel,
                          ArrayRef<double> before);
  /// The Jacobian of the new states, by rows.
  FailureOr<Numbers> jacobian(int64_t sequence, int64_t token, int64_t channel,
                              ArrayRef<double> before);
  LogicalResult followTokens(int64_t sequence, int64_t channel);
  LogicalResult iterate();
  /// The states before a token: those at the token before it, or the first.
  Numbers before(const std::vector<Numbers> &at, int64_t sequence, int64_t step,
                 int64_t channel);
  int64_t tokenOf(int64_t step) {
    return op.getReverse() ? tokens - 1 - step : step;
  }
  int64_t place(int64_t sequence, int64_t token, int64_t channel) const {
    return (sequence * tokens + token) * channels + channel;
  }

  Call &call;
  linrec::NonlinearScanOp op;
  unsigned states, inputs, parameters;
  int64_t sequences = 0, tokens = 0, channels = 0;
  SmallVector<HostTensor> outputs, finals;
};

} // namespace

LogicalResult ScanRun::start() {
  sequences = call.args[0].dim(0);
  channels = call.args[0].dim(1);
  tokens = inputs > 0
               ? call.args[states].dim(1)
               : cast<RankedTensorType>(op.getOutputs().front().getType())
                     .getDimSize(1);
  for (unsigned i = 0; i < states + inputs; ++i) {
    const HostTensor &value = call.args[i];
    if (value.dim(0) != sequences)
      return call.error() << "has " << value.dim(0) << " sequences in operand "
                          << i << ", and " << sequences << " in the first";
    if (i >= states && value.dim(1) != tokens)
      return call.error() << "has " << value.dim(1) << " tokens in operand "
                          << i << ", and " << tokens << " in the first input";
  }
  for (const auto &[values, shape] :
       {std::pair(ValueRange(op.getOutputs()),
                  SmallVector<int64_t>{sequences, tokens, channels}),
        std::pair(ValueRange(op.getFinals()),
                  SmallVector<int64_t>{sequences, channels})})
    for (Value value : values) {
      FailureOr<HostTensor> result =
          call.machine.allocate(op, value.getType(), shape);
      if (failed(result))
        return failure();
      (shape.size() == 3 ? outputs : finals).push_back(std::move(*result));
    }
  return success();
}

FailureOr<Numbers> ScanRun::cell(int64_t sequence, int64_t token,
                                 int64_t channel, ArrayRef<double> before) {
  if (failed(call.machine.countIteration(op)))
    return failure();
  SmallVector<HostTensor> arguments;
  auto add = [&](double value) {
    HostTensor scalar(true, {});
    scalar.mutableF()[0] = value;
    arguments.push_back(std::move(scalar));
  };
  for (double state : before)
    add(state);
  for (unsigned i = 0; i < inputs; ++i)
    add(call.args[states + i].f()[place(sequence, token, channel)]);
  for (unsigned i = 0; i < parameters; ++i)
    add(call.args[states + inputs + i].f()[channel]);
  const Body &body = call.region(0);
  if (failed(call.machine.run(body, arguments, call.frame)))
    return failure();
  Numbers result;
  for (const HostTensor &value : call.machine.yielded(body, call.frame))
    result.push_back(value.f()[0]);
  return result;
}

FailureOr<Numbers> ScanRun::jacobian(int64_t sequence, int64_t token,
                                     int64_t channel, ArrayRef<double> before) {
  Numbers result(states * states);
  for (unsigned j = 0; j < states; ++j) {
    double step = 1e-5 * std::max(1.0, std::abs(before[j]));
    Numbers above(before), below(before);
    above[j] += step;
    below[j] -= step;
    FailureOr<Numbers> high = cell(sequence, token, channel, above);
    FailureOr<Numbers> low = cell(sequence, token, channel, below);
    if (failed(high) || failed(low))
      return failure();
    for (unsigned i = 0; i < states; ++i)
      result[i * states + j] = ((*high)[i] - (*low)[i]) / (above[j] - below[j]);
  }
  return result;
}

LogicalResult ScanRun::followTokens(int64_t sequence, int64_t channel) {
  int64_t at = sequence * channels + channel;
  Numbers now;
  for (unsigned i = 0; i < states; ++i)
    now.push_back(call.args[i].f()[at]);
  for (int64_t step = 0; step < tokens; ++step) {
    int64_t token = tokenOf(step);
    FailureOr<Numbers> made = cell(sequence, token, channel, now);
    if (failed(made))
      return failure();
    now.assign(made->begin(), made->begin() + states);
    for (auto [output, value] :
         llvm::zip_equal(outputs, ArrayRef<double>(*made).drop_front(states)))
      output.mutableF()[place(sequence, token, channel)] = value;
  }
  for (auto [final, value] : llvm::zip_equal(finals, now))
    final.mutableF()[at] = value;
  return success();
}

Numbers ScanRun::before(const std::vector<Numbers> &at, int64_t sequence,
                        int64_t step, int64_t channel) {
  Numbers result;
  for (unsigned i = 0; i < states; ++i)
    result.push_back(step == 0
                         ? call.args[i].f()[sequence * channels + channel]
                         : at[i][place(sequence, tokenOf(step - 1), channel)]);
  return result;
}

LogicalResult ScanRun::iterate() {
  int64_t all = sequences * tokens * channels;
  std::vector<Numbers> at(states, Numbers(all)), next = at;
  double tolerance = op.toleranceOrDefault();
  // Sweeps over all channels, tokens in their order.
  auto sweep = [&](auto visit) -> LogicalResult {
    for (int64_t s = 0; s < sequences; ++s)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t step = 0; step < tokens; ++step)
          if (failed(visit(s, step, c)))
            return failure();
    return success();
  };
  auto share = [](double difference, double of) {
    double size = std::abs(difference) / std::max(1.0, std::abs(of));
    // NaN stays what it is in a maximum from here on.
    return size;
  };
  auto worst = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  };
  int64_t steps = 0;
  double change = INFINITY;
  bool isEmpty = all == 0;
  while (!isEmpty && steps < op.mostSteps(tokens) && !(change <= tolerance)) {
    change = 0;
    LogicalResult swept = sweep([&](int64_t s, int64_t step, int64_t c) {
      Numbers old = before(at, s, step, c), now = before(next, s, step, c);
      FailureOr<Numbers> value = cell(s, tokenOf(step), c, old);
      FailureOr<Numbers> slope = jacobian(s, tokenOf(step), c, old);
      if (failed(value) || failed(slope))
        return failure();
      int64_t here = place(s, tokenOf(step), c);
      for (unsigned i = 0; i < states; ++i) {
        double sum = (*value)[i];
        for (unsigned j = 0; j < states; ++j)
          sum += (*slope)[i * states + j] * (now[j] - old[j]);
        next[i][here] = sum;
        change = worst(change, share(sum - at[i][here], sum));
      }
      return success();
    });
    if (failed(swept))
      return failure();
    at = next;
    ++steps;
  }
  double residual = 0;
  LogicalResult swept = sweep([&](int64_t s, int64_t step, int64_t c) {
    FailureOr<Numbers> value =
        cell(s, tokenOf(step), c, before(at, s, step, c));
    if (failed(value))
      return failure();
    int64_t here = place(s, tokenOf(step), c);
    for (unsigned i = 0; i < states; ++i)
      residual = worst(residual, share((*value)[i] - at[i][here], at[i][here]));
    return success();
  });
  if (failed(swept))
    return failure();
  HostTensor count(true, {}), size(true, {});
  count.mutableF()[0] = static_cast<double>(steps);
  size.mutableF()[0] = residual;
  call.yield(std::move(count));
  call.yield(std::move(size));
  return success();
}

LogicalResult ScanRun::run() {
  if (failed(start()))
    return failure();
  for (int64_t sequence = 0; sequence < sequences; ++sequence)
    for (int64_t channel = 0; channel < channels; ++channel)
      if (failed(followTokens(sequence, channel)))
        return failure();
  for (HostTensor &output : outputs)
    call.yield(std::move(output));
  for (HostTensor &final : finals)
    call.yield(std::move(final));
  return op.getNewton() ? iterate() : success();
}

static LogicalResult runNonlinearScan(Call &call) {
  return ScanRun(call).run();
}

void addRecurrenceOps(Registry &registry) {
  registry["linrec.nonlinear_scan"] = {runNonlinearScan};
}

} // namespace drawloom::interpreter
