//===- OffloadHistoriesTest.cpp - records against a map of bytes ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAWLOOM_OFFLOAD_HISTORIES says how many random histories there are.
//
//===----------------------------------------------------------------------===//

#include "OffloadHarness.h"
#include <algorithm>

using namespace drawloom::runtime::offload;

namespace {

uint64_t histories() {
  const char *given = std::getenv("DRAWLOOM_OFFLOAD_HISTORIES");
  return given ? std::strtoull(given, nullptr, 10) : 10000 / slowness;
}

/// Random commands, in the order of a seed. Nothing but what was put comes
/// back; where faults are given, or an error that names the record's site.
class History {
public:
  History(uint64_t seed, const std::string &faults)
      : random(seed), faulty(!faults.empty()),
        readsFail(faulty && faults.rfind("op=write", 0) != 0),
        harness(make(seed, faults)) {}

  void run(unsigned steps) {
    while (steps-- > 0 && !testing::Test::HasFailure())
      act();
    for (auto &[memory, wanted] : borrowed)
      expectSame(memory, wanted);
    if (!faulty && !testing::Test::HasFailure())
      EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    for (const auto &pair : replaced) {
      RecordId by = pair.second;
      bool ended =
          harness.core->drop(pair.first, harness.why) == Outcome::Misused;
      bool isKept = std::any_of(kept.begin(), kept.end(), [&](const Kept &one) {
        return one.id.index == by.index && one.id.generation == by.generation;
      });
      EXPECT_TRUE(ended || faulty || !isKept)
          << "it was replaced, and is there";
    }
    for (auto &one : kept)
      harness.drop(one.id);
    for (auto &[memory, wanted] : borrowed)
      EXPECT_TRUE(harness.core->giveBack(memory).ok());
    harness.settle();
    CoreCounts counts = harness.core->counts();
    EXPECT_EQ(counts.records, 0u);
    EXPECT_EQ(counts.bytes, 0u);
    EXPECT_EQ(counts.lent, 0u);
    EXPECT_LE(counts.mostMemory, harness.options.core.slots * 1024 +
                                     harness.options.core.loadMemory);
  }

private:
  struct Kept {
    RecordId id;
    std::string site;
    Bytes bytes;
    bool persistent;
  };

  HarnessOptions make(uint64_t seed, const std::string &faults) {
    HarnessOptions options;
    options.device.seed = seed;
    options.faults = faults;
    options.files = 1 + pick(3);
    options.extents = 8 + pick(8);
    options.core.slots = 3 + static_cast<unsigned>(pick(5));
    options.core.loadMemory = 512 * (2 + pick(12));
    options.core.depth = 1 + static_cast<unsigned>(pick(4));
    return options;
  }
  uint64_t pick(uint64_t below) { return random() % below; }

  static void expectSame(const char *memory, const Bytes &wanted) {
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), memory));
  }
  /// Whether there are bytes; checks what is said where there are none.
  bool came(Outcome outcome, const Kept &one) {
    if (outcome == Outcome::Ready)
      return true;
    EXPECT_TRUE(faulty && outcome == Outcome::Failed) << harness.why;
    // What was written wrong memory has still.
    EXPECT_TRUE(readsFail || !one.persistent) << harness.why;
    EXPECT_NE(harness.why.find("'" + one.site + "'"), std::string::npos)
        << harness.why;
    return false;
  }

  void put() {
    Kept one;
    one.site = "layer" + std::to_string(made);
    one.bytes = contents(made++, pick(4) == 0 ? pick(5000) : pick(1500));
    one.persistent = pick(3) == 0;
    Outcome outcome =
        harness.put(one.bytes, one.site, pick(10), one.id, one.persistent);
    if (outcome == Outcome::Failed) {
      EXPECT_NE(harness.why.find("'" + one.site + "'"), std::string::npos)
          << harness.why;
      bool full = harness.why.find("no room") != std::string::npos;
      EXPECT_TRUE(faulty || full) << harness.why;
      return;
    }
    ASSERT_EQ(outcome, Outcome::Ready) << harness.why;
    kept.push_back(std::move(one));
  }
  void borrow(const Kept &one) {
    char *memory = nullptr;
    Outcome outcome = harness.borrow(one.id, memory);
    if (outcome == Outcome::LacksMemory || !came(outcome, one))
      return;
    expectSame(memory, one.bytes);
    borrowed.push_back({memory, one.bytes});
  }
  void expect() {
    std::vector<RecordId> ids;
    for (const Kept &one : kept)
      if (pick(2) == 0)
        ids.push_back(one.id);
    if (pick(3) == 0)
      harness.core->expectAll();
    else
      EXPECT_EQ(harness.core->expect(ids.data(), ids.size(), harness.why),
                Outcome::Ready);
  }
  /// A get that looks at some pieces, and gives up.
  void giveUp(const Kept &one) {
    uint64_t bytes;
    uint32_t pieces;
    if (!came(harness.core->begin(one.id, bytes, pieces, harness.why), one))
      return;
    View view;
    uint32_t piece = static_cast<uint32_t>(pick(pieces + 1));
    if (piece < pieces && harness.core->view(one.id, piece, false, view,
                                             harness.why) == Outcome::Ready)
      harness.core->seen(view, crc32c(view.data, view.bytes));
    harness.core->end(one.id, false);
  }

  void act() {
    uint64_t what = pick(12);
    if (what < 3 || (kept.empty() && what < 9))
      return put();
    if (what >= 10)
      return static_cast<void>(harness.step());
    if (what == 9 && !borrowed.empty()) {
      size_t i = pick(borrowed.size());
      expectSame(borrowed[i].first, borrowed[i].second);
      EXPECT_TRUE(harness.core->giveBack(borrowed[i].first).ok());
      borrowed.erase(borrowed.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (kept.empty())
      return;
    size_t i = pick(kept.size());
    Bytes bytes;
    switch (what) {
    case 3:
    case 4:
      if (came(harness.get(kept[i].id, bytes), kept[i]))
        EXPECT_TRUE(bytes == kept[i].bytes);
      return;
    case 5:
      return borrow(kept[i]);
    case 6:
    case 7:
      if (size_t by = pick(kept.size());
          by != i && kept[by].persistent &&
          harness.core->replace(kept[i].id, kept[by].id, harness.why) ==
              Outcome::Ready)
        replaced.push_back({kept[i].id, kept[by].id});
      else
        harness.drop(kept[i].id);
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    case 8:
      return pick(2) == 0 ? expect() : giveUp(kept[i]);
    default:
      if (pick(4) == 0 && !faulty)
        EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    }
  }

  std::mt19937_64 random;
  const bool faulty, readsFail;
  Harness harness;
  std::vector<Kept> kept;
  std::vector<std::pair<RecordId, RecordId>> replaced; ///< And by what.
  std::vector<std::pair<char *, Bytes>> borrowed;
  uint64_t made = 0;
};

TEST(OffloadHistories, GiveBackWhatWasPut) {
  for (uint64_t seed = 1; seed <= histories() && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    History(seed, "").run(60);
  }
}

TEST(OffloadHistories, GiveBackWhatWasPutOrAnError) {
  const char *mixed =
      "p=1/11,1;do=errno EIO | p=1/12,2;do=flip 77 | p=1/13,3;do=delay 500 | "
      "p=1/14,4;do=never | p=1/15,5;do=short 600 | p=1/5,6;do=reorder 3";
  const char *faults[] = {
      "op=write;p=1/5,1;do=errno EIO",
      "op=read;p=1/5,1;do=errno EIO",
      "op=write;p=1/9,1;do=errno ENOSPC",
      "p=1/3,1;do=errno EINTR | p=1/7,1;do=errno EAGAIN",
      "p=1/3,1;do=short 513",
      "p=1/9,1;do=flip 4321",
      "op=write;p=1/6,1;do=drop",
      "op=write;p=1/6,1;do=torn 1",
      "op=read;p=1/4,1;do=stale",
      "op=read;p=1/5,1;do=swap | op=write;p=1/3,1;do=swap",
      "p=1/4,1;do=delay 3000",
      "p=1/40,1;do=never",
      "p=1/4,1;do=twice",
      "p=1/2,1;do=reorder 7",
      mixed,
  };
  uint64_t each = histories() / std::size(faults) + 1;
  for (const char *fault : faults)
    for (uint64_t seed = 1; seed <= each && !HasFailure(); ++seed) {
      SCOPED_TRACE(fault);
      SCOPED_TRACE(seed);
      History(seed, fault).run(60);
    }
}

} // namespace
