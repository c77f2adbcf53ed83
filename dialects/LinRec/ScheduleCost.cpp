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

#include "dialects/LinRec/ScheduleCost.h"
#include "dialects/LinRec/Chunk.h"
#include "dialects/LinRec/Head.h"

using namespace mlir;

namespace drawloom::linrec {

/// What it costs to begin another kernel, as multiply-adds.
static constexpr int64_t kernelCost = int64_t(1) << 20;
static constexpr int64_t leastValues = 16, leastChunks = 4;

ScheduleProblem::ScheduleProblem(const Recurrence &form, bool gradient)
    : sequences(sequencesOf(form)), heads(form.heads), keys(form.keySize),
      values(form.valueSize), chunk(chunkOf(form)), gradient(gradient),
      erases(form.erases()), rates(form.rates != nullptr),
      packed(form.starts != nullptr) {
  RankedTensorType v = Recurrence::type(form.v);
  chunks = llvm::divideCeil(v.getDimSize(1), chunk);
  elementBytes =
      computeType(cast<FloatType>(v.getElementType())).getWidth() / 8;
  tokenByToken = form.decayKind == DecayKind::Value || chunk == 1;
}

int64_t ScheduleProblem::time(const Schedule &schedule,
                              int64_t processors) const {
  int64_t c = chunk, k = keys;
  int64_t rows = 32 * c * k;
  auto state = [&](int64_t v) {
    if (tokenByToken)
      return (rates ? 18 : 2) * c * k * v + rows;
    int64_t work = c * k * v + rows;
    return erases ? work + c * k * v + c * c * k + c * c * v / 2 : work;
  };
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
  int64_t work = state(v) + (gradient ? backward : read);
  int64_t blocks = sequences * heads * schedule.valueBlocks;
  int64_t s = schedule.segments, time = 0;
  if (schedule.valueBlocks > 1)
    time += 2 * kernelCost;
  if (s > 1) {
    work += state(v) + (erases ? state(k) : rows) + (gradient ? begin : 0);
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

int64_t chooseChunk(const Recurrence &form, bool gradient,
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

Schedule chooseSchedule(const ScheduleProblem &problem,
                        const MachineFacts &machine) {
  Schedule resident;
  if (problem.packed)
    return resident;
  auto fits = [&](const Schedule &schedule) {
    return machine.blockBytes == 0 ||
           problem.blockBytes(schedule) <= machine.blockBytes;
  };
  Schedule best = resident;
  int64_t bestTime = problem.time(resident, machine.processors);
  int64_t residentTime = bestTime;
  bool bestFits = fits(resident);
  for (int64_t n = 1; n <= problem.values; ++n) {
    if (n > 1 &&
        (problem.values % n != 0 || problem.values / n % leastValues != 0))
      continue;
    for (int64_t s = 1; s == 1 || problem.chunks >= leastChunks * s; s *= 2) {
      Schedule schedule{n, s};
      int64_t time = problem.time(schedule, machine.processors);
      if (fits(schedule) < bestFits)
        continue;
      if (fits(schedule) > bestFits || time < bestTime)
        best = schedule, bestTime = time, bestFits = fits(schedule);
    }
  }
  if (fits(resident) >= bestFits && 5 * bestTime > 4 * residentTime)
    return resident;
  return best;
}

} // namespace drawloom::linrec
