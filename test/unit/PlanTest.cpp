//===- PlanTest.cpp - what stays in memory, and what leaves it ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Plan.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace drawloom;

namespace {

constexpr int64_t mebibyte = 1 << 20;

/// Values made one after the other, of some bytes each, and read again in the
/// reverse order; each can be computed from the one before it.
MemoryModel chain(size_t count, int64_t bytes, double seconds) {
  MemoryModel model;
  model.seconds.assign(2 * count, seconds);
  for (size_t i = 0; i < count; ++i) {
    auto value = static_cast<int64_t>(i);
    auto last = static_cast<int64_t>(2 * count - 1 - i);
    model.buffers.push_back({bytes, value, last});
    if (last - value < 3)
      continue;
    model.runs.push_back({last, seconds, 0});
    model.gaps.push_back(
        {value,
         value,
         bytes,
         value + 1,
         last,
         {static_cast<int64_t>(model.runs.size()) - 1},
         i > 0 ? std::vector<int64_t>{value - 1} : std::vector<int64_t>{}});
  }
  return model;
}

/// Whether everything that is computed again finds what it needs in memory.
bool findsWhatItNeeds(const MemoryModel &model,
                      const std::vector<GapChoice> &choices) {
  for (size_t i = 0; i < choices.size(); ++i)
    for (int64_t need : model.gaps[i].needs)
      for (size_t j = 0; j < choices.size(); ++j)
        if (choices[i] == GapChoice::Again && model.gaps[j].value == need &&
            choices[j] != GapChoice::Keep &&
            model.gaps[j].from < model.gaps[i].to &&
            model.gaps[i].to < model.gaps[j].to)
          return false;
  return true;
}

TEST(Plan, KeepsWhatFits) {
  MemoryModel model = chain(8, mebibyte, 1e-3);
  MemoryPlan plan = planMemory(model, 8 * mebibyte, {}, true);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.bytes, plan.bytesBefore);
  EXPECT_EQ(plan.seconds, plan.secondsBefore);
  EXPECT_EQ(plan.stored, 0);
}

TEST(Plan, FitsWhereStoringAllDoes) {
  MemoryModel model = chain(40, mebibyte, 1e-4);
  std::vector<GapChoice> all(model.gaps.size(), GapChoice::Store);
  int64_t least = layOutArena(cutBuffers(model, all)).bytes;
  MemoryPlan plan = planMemory(model, least, {}, true);
  EXPECT_TRUE(plan.fits);
  EXPECT_LE(plan.bytes, least);
  EXPECT_FALSE(planMemory(model, least, {}, false).fits);
}

TEST(Plan, StoresAValueOnce) {
  MemoryModel model;
  model.seconds.assign(9, 1e-3);
  model.buffers = {{mebibyte, 0, 8}, {mebibyte, 2, 2}, {mebibyte, 6, 6}};
  model.gaps = {{0, 0, mebibyte, 0, 4, {}, {}}, {0, 0, mebibyte, 4, 8, {}, {}}};
  MemoryRates rates;
  MemoryPlan plan = planMemory(model, mebibyte, rates, true);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.stored, mebibyte);
  // One copy to the store, two back.
  EXPECT_NEAR(plan.seconds - plan.secondsBefore - plan.stall,
              3 * static_cast<double>(mebibyte) / rates.copy, 1e-12);
}

TEST(Plan, RunsAnOpOnceForAllItsValues) {
  MemoryModel model;
  model.seconds.assign(6, 1e-3);
  model.buffers = {
      {mebibyte, 0, 5}, {mebibyte, 0, 5}, {mebibyte, 2, 2}, {mebibyte, 3, 3}};
  model.runs = {{5, 2e-3, 0}};
  model.gaps = {{0, 0, mebibyte, 0, 5, {0}, {}},
                {1, 1, mebibyte, 0, 5, {0}, {}}};
  MemoryPlan plan = planMemory(model, 2 * mebibyte, {}, false);
  EXPECT_TRUE(plan.fits);
  EXPECT_NEAR(plan.seconds - plan.secondsBefore, 2e-3, 1e-12);
}

TEST(Plan, WaitsForASlowDisk) {
  MemoryModel model = chain(12, 16 * mebibyte, 1e-3);
  MemoryRates rates;
  rates.write = rates.read = 1e8;
  std::vector<GapChoice> all(model.gaps.size(), GapChoice::Store);
  double bytes = 0;
  for (const MemoryGap &gap : model.gaps)
    bytes += static_cast<double>(gap.bytes);
  PlanTime time = simulate(model, all, rates);
  // All but what the store's memory holds is written before it is read again.
  EXPECT_GT(time.stall, (bytes - static_cast<double>(rates.staging)) / 1e8);
}

TEST(Plan, IsNearTheBestOfAll) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    MemoryModel model = chain(8, mebibyte, 1e-3);
    for (double &seconds : model.seconds)
      seconds = 1e-4 * static_cast<double>(1 + random() % 40);
    for (MemoryRun &run : model.runs)
      run.seconds = 1e-4 * static_cast<double>(1 + random() % 40);
    for (size_t i = 0; i < model.gaps.size(); ++i)
      model.gaps[i].bytes = model.buffers[i].bytes =
          mebibyte / 4 * static_cast<int64_t>(1 + random() % 8);
    int64_t before = layOutArena(model.buffers).bytes;
    int64_t budget = before * static_cast<int64_t>(55 + random() % 40) / 100;
    double best = -1;
    std::vector<GapChoice> choices(model.gaps.size());
    size_t count = 1;
    for (size_t i = 0; i < choices.size(); ++i)
      count *= 3;
    for (size_t code = 0; code < count; ++code) {
      size_t rest = code;
      for (GapChoice &choice : choices) {
        choice = static_cast<GapChoice>(rest % 3);
        rest /= 3;
      }
      if (!findsWhatItNeeds(model, choices) ||
          layOutArena(cutBuffers(model, choices)).bytes > budget)
        continue;
      double seconds = simulate(model, choices, {}).seconds;
      best = best < 0 ? seconds : std::min(best, seconds);
    }
    MemoryPlan plan = planMemory(model, budget, {}, true);
    EXPECT_TRUE(findsWhatItNeeds(model, plan.choices));
    EXPECT_EQ(plan.fits, best >= 0);
    if (plan.fits)
      EXPECT_LE(plan.bytes, budget);
    if (plan.fits && best >= 0)
      EXPECT_LE(plan.seconds, 1.05 * best) << "round " << round;
  }
}

} // namespace
