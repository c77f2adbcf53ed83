//===- OffloadOrdersTest.cpp - what is done to records in every order -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadHarness.h"
#include <algorithm>

using namespace drawloom::runtime::offload;

namespace {

/// Calls visit() with each order of `steps` steps of each of `records`.
template <typename Visit>
void eachOrder(unsigned records, unsigned steps, Visit visit) {
  std::vector<unsigned> order;
  for (unsigned record = 0; record < records; ++record)
    order.insert(order.end(), steps, record);
  do
    visit(order);
  while (std::next_permutation(order.begin(), order.end()));
}

/// Puts, gets and drops in an order; the bits of `turns` say after which of
/// them the thread has its turn.
void runOrder(const std::vector<unsigned> &order, unsigned turns,
              uint64_t seed) {
  HarnessOptions options;
  options.device.seed = seed;
  Harness harness(options);
  RecordId ids[3];
  unsigned steps[3] = {};
  for (size_t i = 0; i < order.size(); ++i) {
    unsigned record = order[i];
    switch (steps[record]++) {
    case 0:
      ids[record] =
          harness.put(contents(record, 1500), "layer", 0, record == 1);
      break;
    case 1:
      EXPECT_EQ(harness.get(ids[record]), contents(record, 1500));
      break;
    case 2:
      harness.drop(ids[record]);
      break;
    }
    if (turns >> i & 1)
      harness.step();
  }
}

TEST(OffloadOrders, KeepRecords) {
  // With each pattern of turns for a few orders, and few patterns for all.
  unsigned count = 0;
  eachOrder(3, 3, [&](const std::vector<unsigned> &order) {
    for (unsigned turns : {0u, 0x1ffu, 0x55u, 0xaau, 0x124u, 0x92u})
      for (uint64_t seed : {0, 1, 2})
        runOrder(order, turns, seed);
    if (count++ % 40 == 0)
      for (unsigned turns = 0; turns < 512; ++turns)
        runOrder(order, turns, count);
  });
  EXPECT_EQ(count, 1680u);
}

/// The same with the parts of puts and gets as steps of their own, as several
/// threads would have them.
void runParts(const std::vector<unsigned> &order, unsigned turns,
              uint64_t seed) {
  HarnessOptions options;
  options.device.seed = seed;
  options.core.slots = 6;
  Harness harness(options);
  Core &core = *harness.core;
  RecordId ids[3];
  Bytes wanted[3], found[3];
  std::string why;
  unsigned steps[3] = {};
  Core::Span spans[3];
  View views[3];
  auto look = [&](unsigned record, uint32_t piece) {
    ASSERT_EQ(harness.until([&] {
      return core.view(ids[record], piece, false, views[record], why);
    }),
              Outcome::Ready);
  };
  auto copy = [&](unsigned record) {
    View &view = views[record];
    EXPECT_TRUE(
        core.seen(view, copyWithCrc32c(found[record].data() + view.offset,
                                       view.data, view.bytes)));
  };
  auto fill = [&](unsigned record) {
    ASSERT_EQ(harness.until(
                  [&] { return core.fill(ids[record], spans[record], why); }),
              Outcome::Ready);
  };
  auto write = [&](unsigned record) {
    core.filled(ids[record],
                copyWithCrc32c(spans[record].memory,
                               wanted[record].data() + spans[record].offset,
                               spans[record].bytes));
  };
  for (size_t i = 0; i < order.size(); ++i) {
    unsigned record = order[i];
    uint64_t bytes;
    uint32_t pieces;
    switch (steps[record]++) {
    case 0:
      wanted[record] = contents(record, 1500);
      found[record].assign(1500, 0);
      ASSERT_EQ(core.put(1500, "layer", record, record == 1, ids[record], why),
                Outcome::Ready);
      fill(record);
      break;
    case 1:
      write(record);
      fill(record);
      break;
    case 2:
      write(record);
      fill(record);
      EXPECT_EQ(spans[record].memory, nullptr);
      break;
    case 3:
      ASSERT_EQ(core.begin(ids[record], bytes, pieces, why), Outcome::Ready);
      look(record, 0);
      break;
    case 4:
      copy(record);
      look(record, 1);
      break;
    case 5:
      copy(record);
      core.end(ids[record], true);
      EXPECT_EQ(found[record], wanted[record]);
      break;
    case 6:
      harness.drop(ids[record]);
      break;
    }
    if (turns >> i & 1)
      harness.step();
  }
}

TEST(OffloadOrders, KeepRecordsOfSeveralThreads) {
  unsigned count = 0;
  eachOrder(2, 7, [&](const std::vector<unsigned> &order) {
    for (unsigned turns : {0u, 0x3fffu, 0x1555u, 0x2aaau, 0x0924u, 0x3333u})
      runParts(order, turns, count);
    ++count;
  });
  EXPECT_EQ(count, 3432u);
}

} // namespace
