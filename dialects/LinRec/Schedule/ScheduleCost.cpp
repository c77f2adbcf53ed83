//===- ScheduleCost.cpp - which schedule a recurrence gets ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole numbers only: the choice is the same wherever it is made.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Schedule/ScheduleCost.h"
#include "dialects/LinRec/Chunk/Chunk.h"
#include "dialects/LinRec/Schedule/HeadBlocks.h"

using namespace mlir;

namespace drawloom::linrec {

/// What it costs to begin another kernel, as multiply-adds.
static constexpr int64_t kernelCost = int64_t(1) << 20;
static constexpr int64_t leastValues = 16, leastChunks = 4;

ScheduleProblem::ScheduleProblem(const Recurrence &form, bool gradient)
    : sequences(sequencesOf(form)), heads(form.heads), keys(form.keySize),
      values(form.valueSize), chunk(chunkOf(form)), gradient(gradient),
      erases(form.erases()), rates(form.rates != nullptr),
      packed(form.starts != nullptr), givenSegments(form.segments),
      givenValueBlocks(form.valueBlocks) {
  RankedTensorType v = Recurrence::type(form.v);
  chunks = llvm::divideCeil(v.getDimSize(1), chunk);
  elementBytes =
      computeType(cast<FloatType>(v.getElementType())).getWidth() / 8;
  tokenByToken = form.decayKind == DecayKind::Value || chunk == 1;
  // Not where a chunk's form is looked up.
  bool products =
      form.decayKind != DecayKind::Key || isMildByBound(form, chunk);
  if (erases && products && !tokenByToken)
    kept = chunk * values +
           ((form.lowrank ? 2 : 1) + (form.inverts ? 1 : 0)) * chunk * chunk;
}

int64_t ScheduleProblem::stateWork(int64_t v) const {
  int64_t c = chunk, k = keys, rows = 32 * c * k;
  if (tokenByToken)
    return (rates ? 18 : 2) * c * k * v + rows;
  int64_t work = c * k * v + rows;
  return erases ? work + c * k * v + c * c * k + c * c * v / 2 : work;
}

int64_t ScheduleProblem::time(const Schedule &schedule,
                              int64_t processors) const {
  int64_t c = chunk, k = keys;
  int64_t rows = 32 * c * k;
  int64_t v = values / schedule.valueBlocks;
  int64_t read = c * k * v + (tokenByToken ? 0 : c * c * (k + v));
  int64_t backward, begin;
  if (tokenByToken) {
    backward = (rates ? 22 : 6) * c * k * v + 2 * rows;
    begin = (rates ? 18 : 2) * c * k * v;
  } else {
    backward = 4 * c * k * v + c * c * (3 * k + 2 * v) + 2 * rows;
    begin = c * k * v + rows;
    if (erases) {
      backward += 3 * c * k * v + c * c * (3 * k + 5 * v / 2);
      begin += 2 * c * k * v + c * c * (2 * k + 3 * v / 2);
    }
  }
  int64_t work = stateWork(v) + (gradient ? backward : read);
  int64_t blocks = sequences * heads * schedule.valueBlocks;
  int64_t s = schedule.segments, time = 0;
  if (schedule.valueBlocks > 1)
    time += 2 * kernelCost;
  if (s > 1) {
    // Blocks of a head share its matrix.
    int64_t matrix = llvm::divideCeil(stateWork(k), schedule.valueBlocks);
    work += stateWork(v) + (erases ? matrix : rows) + (gradient ? begin : 0);
    int64_t fold = erases ? k * k * v : 8 * k * v;
    time += 4 * kernelCost + llvm::divideCeil(blocks, processors) * s * fold;
  }
  return time + llvm::divideCeil(blocks * s, processors) *
                    llvm::divideCeil(chunks, s) * work;
}

int64_t ScheduleProblem::blockBytes(const Schedule &schedule) const {
  int64_t v = values / schedule.valueBlocks;
  int64_t states = gradient ? 2 : 1;
  int64_t rows = gradient ? 3 * keys + 2 * v : 2 * keys + v;
  return elementBytes * (states * keys * v + chunk * rows);
}

int64_t ScheduleProblem::savedBytes(int64_t interval) const {
  bool all = interval == 1 || interval >= chunks;
  int64_t checkpoints = all ? 0 : llvm::divideCeil(chunks, interval);
  int64_t between = all ? chunks : interval;
  int64_t states = checkpoints + between + 1;
  return elementBytes * (states * keys * values + between * kept);
}

int64_t ScheduleProblem::recomputed(int64_t interval) const {
  if (interval == 1 || interval >= chunks)
    return 0;
  int64_t earlier = (llvm::divideCeil(chunks, interval) - 1) * interval;
  return earlier * stateWork(values);
}

SmallVector<int64_t> ScheduleProblem::valueBlocks() const {
  if (givenValueBlocks)
    return {*givenValueBlocks};
  SmallVector<int64_t> counts = {1};
  for (int64_t n = 2; n <= values / leastValues; ++n)
    if (values % n == 0 && values / n % leastValues == 0)
      counts.push_back(n);
  return counts;
}

SmallVector<int64_t> ScheduleProblem::segments() const {
  if (givenSegments)
    return {*givenSegments};
  SmallVector<int64_t> counts = {1};
  while (!packed && !givenValueBlocks &&
         chunks >= leastChunks * 2 * counts.back())
    counts.push_back(2 * counts.back());
  return counts;
}

int64_t ScheduleProblem::excess(const Schedule &schedule,
                                const MachineFacts &machine) const {
  if (machine.blockBytes == 0)
    return 0;
  return std::max<int64_t>(0, blockBytes(schedule) - machine.blockBytes);
}

/// The chunk of the least time, whatever it needs.
static int64_t fastestChunk(const Recurrence &form, bool gradient,
                            const MachineFacts &machine) {
  int64_t standard = chunkOf(form);
  if (form.chunk || form.decayKind == DecayKind::Value)
    return standard;
  if (form.decayKind == DecayKind::Key)
    return !isMildByBound(form, standard) && isMildByBound(form, 16) ? 16
                                                                     : standard;
  if (gradient && !form.erases())
    return standard;
  return std::min(standard, std::max<int64_t>(16, machine.productRows));
}

int64_t chooseChunk(const Recurrence &form, bool gradient,
                    const MachineFacts &machine) {
  int64_t fastest = fastestChunk(form, gradient, machine);
  if (form.chunk || machine.blockBytes == 0)
    return fastest;
  ScheduleProblem problem(form, gradient);
  Schedule smallest{problem.valueBlocks().back(), 1};
  for (int64_t chunk = fastest; chunk >= 16; chunk = chunk / 2 / 16 * 16) {
    problem.chunk = chunk;
    if (problem.excess(smallest, machine) == 0)
      return chunk;
  }
  return 1;
}

Schedule chooseSchedule(const ScheduleProblem &problem,
                        const MachineFacts &machine) {
  bool byTime =
      !problem.packed && !problem.givenSegments && !problem.givenValueBlocks;
  // The smaller of two costs is the better schedule.
  auto cost = [&](const Schedule &schedule) {
    return std::pair(problem.excess(schedule, machine),
                     byTime ? problem.time(schedule, machine.processors)
                            : schedule.valueBlocks);
  };
  Schedule first{problem.valueBlocks().front(), problem.segments().front()};
  Schedule best = first;
  for (int64_t n : problem.valueBlocks())
    for (int64_t s : problem.segments())
      if (cost({n, s}) < cost(best))
        best = {n, s};
  auto [firstExcess, firstTime] = cost(first);
  auto [bestExcess, bestTime] = cost(best);
  if (byTime && firstExcess == bestExcess && 5 * bestTime > 4 * firstTime)
    return first;
  return best;
}

int64_t savedBytesLimit(int64_t operandBytes, const MachineFacts &machine) {
  if (machine.savedBytes > 0)
    return machine.savedBytes;
  return machine.blockBytes > 0 ? 0 : operandBytes;
}

int64_t savedAtOnce(const ScheduleProblem &problem, int64_t interval,
                    const MachineFacts &machine) {
  int64_t blocks = problem.sequences * problem.heads;
  if (machine.blockBytes == 0)
    blocks = std::min(blocks, machine.processors);
  return blocks * problem.savedBytes(interval);
}

int64_t chooseInterval(const ScheduleProblem &problem, int64_t limit,
                       const MachineFacts &machine) {
  int64_t best = 1;
  if (limit == 0)
    return best;
  auto bytes = [&](int64_t interval) {
    return savedAtOnce(problem, interval, machine);
  };
  for (int64_t m = 2; m < problem.chunks && bytes(best) > limit; m *= 2)
    if (bytes(m) < bytes(best))
      best = m;
  if (best == 1)
    return best;
  // The longer the interval, the less is computed twice.
  for (int64_t m = 2 * best; m < problem.chunks && bytes(m) <= limit; m *= 2)
    if (problem.recomputed(m) < problem.recomputed(best))
      best = m;
  return best;
}

} // namespace drawloom::linrec
