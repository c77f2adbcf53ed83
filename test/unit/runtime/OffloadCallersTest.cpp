//===- OffloadCallersTest.cpp - several callers of one core, step by step -===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Callers as threads would be: each waits, copies late, and works on records
// that others get, borrow and drop meanwhile. One thread takes their steps in
// the order of a seed.
//
//===----------------------------------------------------------------------===//

#include "OffloadHarness.h"
#include <algorithm>

using namespace drawloom::runtime::offload;

namespace {

struct Known {
  RecordId id;
  std::string site;
  Bytes bytes;
  bool persistent = false;
};

/// What all callers share.
struct World {
  World(uint64_t seed, const std::string &faults)
      : random(seed), faulty(!faults.empty()), harness(make(seed, faults)) {}
  uint64_t pick(uint64_t below) { return random() % below; }
  HarnessOptions make(uint64_t seed, const std::string &faults) {
    HarnessOptions options;
    options.device.seed = seed;
    options.faults = faults;
    options.files = 1 + pick(2);
    options.extents = 24;
    options.core.slots = 3 + static_cast<unsigned>(pick(4));
    options.core.loadMemory = 512 * (3 + pick(12));
    options.core.depth = 1 + static_cast<unsigned>(pick(3));
    return options;
  }
  std::mt19937_64 random;
  const bool faulty;
  Harness harness;
  std::vector<Known> kept;
  uint64_t made = 0;
};

class Caller {
public:
  explicit Caller(World &world) : world(world) {}

  /// False where it waits.
  bool step() {
    switch (doing) {
    case Doing::Nothing:
      choose();
      return true;
    case Doing::Putting:
      return put();
    case Doing::Filling:
      core().filled(mine.id,
                    copyWithCrc32c(span.memory, mine.bytes.data() + span.offset,
                                   span.bytes));
      doing = Doing::Putting;
      return true;
    case Doing::Getting:
      return look();
    case Doing::Looking:
      see();
      return true;
    case Doing::Holding:
      // What is lent does not change.
      expectSame(lent);
      if (world.pick(3) == 0) {
        EXPECT_TRUE(core().giveBack(lent).ok());
        doing = Doing::Nothing;
      }
      return true;
    }
    return true;
  }
  bool isIdle() const { return doing == Doing::Nothing; }
  bool isOver = false; ///< Begins nothing more.

private:
  enum class Doing { Nothing, Putting, Filling, Getting, Looking, Holding };
  Core &core() { return *world.harness.core; }

  void expectSame(const char *data) {
    EXPECT_TRUE(std::equal(mine.bytes.begin(), mine.bytes.end(), data));
  }
  void choose() {
    if (isOver)
      return;
    uint64_t what = world.pick(8);
    if (what < 3 || world.kept.empty()) {
      mine.site = "layer" + std::to_string(world.made);
      mine.bytes = contents(world.made++, world.pick(3600));
      mine.persistent = world.pick(3) == 0;
      begun = false;
      doing = Doing::Putting;
      return;
    }
    size_t i = world.pick(world.kept.size());
    if (what == 3 || world.kept.size() > 6) {
      const Known &by = world.kept[world.pick(world.kept.size())];
      if (!by.persistent ||
          core().replace(world.kept[i].id, by.id, why) != Outcome::Ready)
        EXPECT_EQ(core().drop(world.kept[i].id, why), Outcome::Ready);
      world.kept.erase(world.kept.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (what == 4)
      return core().expectAll();
    mine = world.kept[i];
    whole = what < 6;
    uint64_t bytes = 0;
    Outcome outcome = core().begin(mine.id, bytes, pieces, why);
    if (outcome == Outcome::Ready) {
      found.assign(bytes, 0);
      piece = 0;
      doing = Doing::Getting;
    } else {
      expectError(outcome);
    }
  }
  void expectError(Outcome outcome) {
    if (outcome == Outcome::LacksMemory && whole)
      return;
    if (outcome == Outcome::Misused) // Another one has dropped it.
      return;
    EXPECT_EQ(outcome, Outcome::Failed);
    bool full = why.find("no room") != std::string::npos ||
                why.find("finds no room") != std::string::npos;
    EXPECT_TRUE(world.faulty || full) << why;
    EXPECT_NE(why.find("'" + mine.site + "'"), std::string::npos) << why;
  }
  bool put() {
    Outcome outcome = Outcome::Ready;
    if (!begun)
      outcome = core().put(mine.bytes.size(), mine.site, world.pick(5),
                           mine.persistent, mine.id, why);
    if (outcome == Outcome::Ready) {
      begun = true;
      outcome = core().fill(mine.id, span, why);
    }
    if (outcome == Outcome::Wait)
      return false;
    doing = Doing::Nothing;
    if (outcome != Outcome::Ready) {
      if (begun)
        core().giveUp(mine.id);
      expectError(outcome);
    } else if (span.memory) {
      world.harness.expectUntouched(span.memory, span.bytes, true);
      doing = Doing::Filling;
    } else {
      world.kept.push_back(mine);
    }
    return true;
  }
  bool look() {
    Outcome outcome = Outcome::Ready;
    bool isDone = piece >= std::max(pieces, whole ? 1u : 0u);
    if (!isDone)
      outcome = core().view(mine.id, piece, whole, view, why);
    // Some run out of time.
    if (outcome == Outcome::Wait && world.pick(30) != 0)
      return false;
    if (outcome == Outcome::Ready && !isDone) {
      world.harness.look(view);
      doing = Doing::Looking;
      return true;
    }
    doing = Doing::Nothing;
    core().end(mine.id, outcome == Outcome::Ready);
    if (outcome == Outcome::Wait)
      return true;
    if (outcome != Outcome::Ready) {
      expectError(outcome);
    } else if (!whole) {
      EXPECT_TRUE(found == mine.bytes);
    } else if ((lent = static_cast<char *>(core().lend(mine.id)))) {
      doing = Doing::Holding;
      expectSame(lent);
    }
    return true;
  }
  void see() {
    doing = Doing::Getting;
    uint32_t sum = 0;
    if (whole && view.data)
      sum = view.into ? copyWithCrc32c(view.into, view.data, view.bytes)
                      : crc32c(view.data, view.bytes);
    else if (view.data)
      sum = copyWithCrc32c(found.data() + view.offset, view.data, view.bytes);
    piece += world.harness.seen(view, sum);
  }

  World &world;
  Doing doing = Doing::Nothing;
  Known mine;
  bool begun = false, whole = false;
  Core::Span span;
  View view;
  uint32_t pieces = 0, piece = 0;
  Bytes found;
  char *lent = nullptr;
  std::string why;
};

void run(uint64_t seed, const std::string &faults) {
  World world(seed, faults);
  std::vector<Caller> callers(2 + world.pick(3), Caller(world));
  unsigned waited = 0;
  for (unsigned turn = 0; turn < 20000 && !testing::Test::HasFailure();
       ++turn) {
    if (turn > 300) // They come to an end.
      for (Caller &caller : callers)
        caller.isOver = true;
    if (turn > 300 &&
        std::all_of(callers.begin(), callers.end(),
                    [](const Caller &caller) { return caller.isIdle(); }))
      break;
    bool moved = world.pick(3) == 0
                     ? world.harness.step()
                     : callers[world.pick(callers.size())].step();
    waited = moved ? 0 : waited + 1;
    if (waited > 2000)
      ADD_FAILURE() << "all wait";
  }
  for (Caller &caller : callers)
    EXPECT_TRUE(caller.isIdle());
  EXPECT_LE(world.harness.core->counts().mostMemory,
            world.harness.options.core.slots * 1024 +
                world.harness.options.core.loadMemory);
}

uint64_t histories() {
  const char *given = std::getenv("DRAWLOOM_OFFLOAD_HISTORIES");
  return given ? std::strtoull(given, nullptr, 10) : 4000 / slowness;
}

TEST(OffloadCallers, GetWhatWasPut) {
  for (uint64_t seed = 1; seed <= histories() && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    run(seed, "");
  }
}

TEST(OffloadCallers, GetWhatWasPutOrAnError) {
  const char *faults[] = {
      "p=1/6,1;do=errno EIO",
      "op=write;p=1/12,1;do=errno ENOSPC",
      "p=1/7,1;do=flip 4321",
      "op=write;p=1/6,1;do=drop | p=1/9,1;do=short 700",
      "p=1/4,1;do=twice | p=1/3,2;do=reorder 1 | p=1/4,3;do=delay 900",
      "p=1/60,1;do=never | p=1/9,2;do=errno EIO",
  };
  for (const char *fault : faults)
    for (uint64_t seed = 1; seed <= histories() / 6 + 1 && !HasFailure();
         ++seed) {
      SCOPED_TRACE(fault);
      SCOPED_TRACE(seed);
      run(seed, fault);
    }
}

} // namespace
