//===- OffloadFaultsTest.cpp - what disks do wrong ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadHarness.h"

using namespace drawloom::runtime::offload;

namespace {

constexpr const char *actions[] = {
    "errno EIO",  "errno ENOSPC", "errno EINTR", "errno EAGAIN",
    "short 513",  "short 100",    "flip 4321",   "drop",
    "torn 1",     "torn 0",       "stale",       "swap",
    "delay 5000", "never",        "twice",       "reorder 3"};

/// A step of training: 12 records are put, and got in the reverse order.
/// Returns how many of them were errors.
unsigned runStep(Harness &harness, bool borrows) {
  struct Kept {
    RecordId id;
    Bytes bytes;
    std::string site;
  };
  std::vector<Kept> kept;
  unsigned errors = 0;
  auto refused = [&](Outcome outcome, const std::string &site) {
    if (outcome == Outcome::Ready)
      return false;
    ++errors;
    EXPECT_EQ(outcome, Outcome::Failed) << harness.why;
    EXPECT_NE(harness.why.find("'" + site + "'"), std::string::npos)
        << harness.why;
    return true;
  };
  for (uint64_t i = 0; i < 12; ++i) {
    Kept one;
    one.site = "layer" + std::to_string(i);
    one.bytes = contents(i, i % 3 == 0 ? 300 : 600 * (i % 4) + 200);
    if (!refused(harness.put(one.bytes, one.site, 12 - i, one.id), one.site))
      kept.push_back(std::move(one));
    harness.step();
  }
  harness.core->expectAll();
  for (; !kept.empty(); kept.pop_back()) {
    Kept &one = kept.back();
    harness.step();
    if (borrows) {
      char *data = nullptr;
      if (!refused(harness.borrow(one.id, data), one.site)) {
        EXPECT_EQ(Bytes(data, data + one.bytes.size()), one.bytes);
        EXPECT_TRUE(harness.core->giveBack(data).ok());
      }
    } else {
      Bytes bytes;
      if (!refused(harness.get(one.id, bytes), one.site))
        EXPECT_EQ(bytes, one.bytes);
    }
    harness.drop(one.id);
  }
  EXPECT_EQ(harness.finish(), Outcome::Ready) << "an error that nobody has";
  return errors;
}

TEST(OffloadFaults, GiveTheSameBytesOrAnErrorWhereverTheyOccur) {
  HarnessOptions options;
  options.files = 2;
  for (bool borrows : {false, true})
    for (const char *action : actions)
      for (unsigned nth = 1;; ++nth) {
        options.faults = "nth=" + std::to_string(nth) + ";do=" + action;
        SCOPED_TRACE(options.faults);
        Harness harness(options);
        runStep(harness, borrows);
        if (harness.device->faults() == 0) { // There are no more of them.
          EXPECT_GT(nth, 20u);
          break;
        }
        // The next one is as if nothing had been.
        EXPECT_EQ(runStep(harness, borrows), 0u) << harness.why;
        if (HasFailure())
          return;
      }
}

TEST(OffloadFaults, GiveTheSameBytesWhereTheyCanBeMended) {
  HarnessOptions options;
  for (const char *action : {"errno EINTR", "errno EAGAIN", "errno EIO",
                             "short 513", "delay 5000", "twice", "reorder 3"})
    for (unsigned every : {3, 4, 7}) {
      options.faults = "every=" + std::to_string(every) + ";do=" + action;
      SCOPED_TRACE(options.faults);
      Harness harness(options);
      EXPECT_EQ(runStep(harness, every % 2 == 0), 0u) << harness.why;
      EXPECT_GT(harness.device->faults(), 0u);
    }
}

//===----------------------------------------------------------------------===//
// Bytes that are not those that were written
//===----------------------------------------------------------------------===//

/// One record of 4 KiB, or a few, of which none is in memory any more.
struct Damage : testing::Test {
  Damage() {
    options.core.unit = 4096;
    options.core.slots = 2;
  }
  /// Ends its residence in memory.
  void moveOn(Harness &harness) {
    RecordId other = harness.put(contents(99, 4 * 4096));
    EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    harness.drop(other);
  }
  void expectDamaged(Harness &harness, RecordId id) {
    Bytes bytes;
    EXPECT_EQ(harness.get(id, bytes), Outcome::Failed);
    EXPECT_NE(harness.why.find("the record of 'encoder', 4096 bytes, is "
                               "damaged: its piece 0 has the checksum "),
              std::string::npos)
        << harness.why;
    EXPECT_NE(harness.why.find(", 3 times, as read from byte "),
              std::string::npos)
        << harness.why;
    EXPECT_GE(harness.core->counts().mismatches, 3u);
    EXPECT_GE(harness.core->counts().quarantined, 4096u);
  }
  HarnessOptions options;
};

TEST_F(Damage, OfEveryBitIsFound) {
  for (unsigned bit = 0; bit < 8 * 4096 && !HasFailure(); bit += slowness) {
    // In one direction, in the other, and once only.
    std::string flip = "do=flip " + std::to_string(bit);
    options.faults = "op=write;nth=1;" + flip;
    SCOPED_TRACE(flip);
    {
      Harness harness(options);
      RecordId id = harness.put(contents(1, 4096), "encoder");
      moveOn(harness);
      expectDamaged(harness, id);
    }
    if (bit % 16 > 0)
      continue;
    options.faults = "op=read;" + flip;
    {
      Harness harness(options);
      RecordId id = harness.put(contents(1, 4096), "encoder");
      moveOn(harness);
      expectDamaged(harness, id);
    }
    options.faults = "op=read;nth=1;" + flip;
    Harness harness(options);
    RecordId id = harness.put(contents(1, 4096), "encoder");
    moveOn(harness);
    EXPECT_EQ(harness.get(id), contents(1, 4096));
    EXPECT_EQ(harness.core->counts().mismatches, 1u);
  }
}

TEST_F(Damage, OfTornWritesIsFound) {
  for (unsigned sectors = 0; sectors < 8; ++sectors) {
    options.faults = "op=write;nth=2;do=torn " + std::to_string(sectors);
    SCOPED_TRACE(options.faults);
    Harness harness(options);
    // Another one was there before.
    RecordId before = harness.put(contents(2, 4096), "encoder");
    harness.settle();
    harness.drop(before);
    RecordId id = harness.put(contents(1, 4096), "encoder");
    moveOn(harness);
    expectDamaged(harness, id);
  }
}

TEST_F(Damage, ByAnEarlierGenerationIsFound) {
  for (const char *fault : {"op=write;nth=2;do=drop", "op=write;nth=2;do=stale",
                            "op=read;do=stale"}) {
    options.faults = fault;
    SCOPED_TRACE(fault);
    Harness harness(options);
    RecordId before = harness.put(contents(2, 4096), "encoder");
    harness.settle();
    harness.drop(before);
    RecordId id = harness.put(contents(1, 4096), "encoder");
    moveOn(harness);
    expectDamaged(harness, id);
  }
}

TEST_F(Damage, BySwappedUnitsIsFound) {
  options.core.slots = 4;
  options.faults = "op=write;nth=1;do=swap";
  Harness harness(options);
  RecordId first = harness.put(contents(1, 4096), "encoder");
  RecordId second = harness.put(contents(2, 4096), "encoder");
  moveOn(harness);
  expectDamaged(harness, first);
  expectDamaged(harness, second);
}

TEST_F(Damage, OfAPartOfASharedBlockLeavesTheOthers) {
  options.faults = "op=write;nth=1;do=flip 9000";
  Harness harness(options);
  RecordId first = harness.put(contents(1, 1000), "first");
  RecordId second = harness.put(contents(2, 1000), "second");
  RecordId third = harness.put(contents(3, 2048), "third");
  moveOn(harness);
  Bytes bytes;
  EXPECT_EQ(harness.get(first), contents(1, 1000));
  EXPECT_EQ(harness.get(second, bytes), Outcome::Failed);
  EXPECT_EQ(harness.get(third), contents(3, 2048));
  EXPECT_EQ(harness.core->finish(harness.why), Outcome::Failed);
  EXPECT_NE(harness.why.find("'second'"), std::string::npos);
  harness.drop(second);
  EXPECT_EQ(harness.finish(), Outcome::Ready);
}

//===----------------------------------------------------------------------===//
// Disks that fail, are full or do not answer
//===----------------------------------------------------------------------===//

TEST(OffloadFaults, OfOneFolderMakeAnotherOneTakeOver) {
  for (const char *faults :
       {"op=write;nth=1;do=errno EIO | op=write;nth=2;do=errno EIO | "
        "op=write;nth=3;do=errno EIO",
        "op=write;nth=1;do=errno ENOSPC", "op=write;nth=1;do=never"}) {
    HarnessOptions options;
    options.files = 2;
    options.faults = faults;
    SCOPED_TRACE(faults);
    Harness harness(options);
    std::vector<RecordId> ids;
    for (uint64_t i = 0; i < 8; ++i) {
      ids.push_back(harness.put(contents(i, 1024)));
      EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    }
    for (uint64_t i = 0; i < 8; ++i)
      EXPECT_EQ(harness.get(ids[i]), contents(i, 1024));
    // What could not be written to one was written to the other.
    const Transfer &first = harness.log.front();
    bool moved = false;
    for (const Transfer &transfer : harness.log)
      moved |= transfer.memory == first.memory && transfer.file != first.file;
    EXPECT_TRUE(moved);
  }
}

TEST(OffloadFaults, OfAFullDiskNameTheSite) {
  HarnessOptions options;
  options.faults = "op=write;do=errno ENOSPC";
  Harness harness(options);
  RecordId id = harness.put(contents(1, 1024), "decoder");
  EXPECT_EQ(harness.finish(), Outcome::Failed);
  EXPECT_EQ(harness.why,
            "the record of 'decoder', 1024 bytes, was not stored: writing to "
            "byte 0 of the file in 'disk0' failed: No space left on device, "
            "and no other has room");
  Bytes bytes;
  EXPECT_EQ(harness.get(id, bytes), Outcome::Failed);
  harness.drop(id);
  EXPECT_EQ(harness.finish(), Outcome::Ready);
}

TEST(OffloadFaults, OfAHungDiskEndAfterTheTimeAndKeepItsMemoryAside) {
  HarnessOptions options;
  options.core.slots = 6;
  options.files = 2;
  // It comes back long after everybody has given it up.
  options.faults = "op=write;nth=1;do=delay 5000000";
  Harness harness(options);
  RecordId id = harness.put(contents(1, 1024));
  harness.step();
  uint64_t begin = harness.device->now();
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  uint64_t took = harness.device->now() - begin;
  EXPECT_GE(took, options.core.timeout - options.device.transferTime);
  EXPECT_LE(took, options.core.timeout + 3 * options.device.transferTime);
  EXPECT_EQ(harness.core->counts().deadFolders, 1u);
  EXPECT_EQ(harness.core->counts().leaked, 1024u);
  EXPECT_EQ(harness.core->counts().quarantined, 64 * 1024u);
  EXPECT_EQ(harness.get(id), contents(1, 1024));
  harness.drop(id);
  // Five slots are left.
  std::vector<RecordId> ids;
  for (uint64_t i = 0; i < 12; ++i)
    ids.push_back(harness.put(contents(i, 1024)));
  for (uint64_t i = 0; i < 12; ++i)
    EXPECT_EQ(harness.get(ids[i]), contents(i, 1024));
  for (int i = 0; i < 100 && harness.core->underWay() != 0; ++i) {
    Completion completion;
    if (harness.device->reap(&completion, 1,
                             harness.device->now() + options.core.timeout) == 1)
      harness.core->complete(completion, harness.device->now());
  }
  EXPECT_EQ(harness.core->counts().leaked, 0u);
}

TEST(OffloadFaults, OfTheOnlyDiskAreErrorsOfAllThatIsOnIt) {
  HarnessOptions options;
  options.faults = "op=read;nth=1;do=never";
  Harness harness(options);
  std::vector<RecordId> ids;
  for (uint64_t i = 0; i < 6; ++i)
    ids.push_back(harness.put(contents(i, 1024), "encoder"));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  Bytes bytes;
  EXPECT_EQ(harness.get(ids[0], bytes), Outcome::Failed);
  EXPECT_EQ(harness.why,
            "the record of 'encoder', 1024 bytes, cannot be read back: 'disk0' "
            "has not answered for 1000 ms; see to its disk, or use another "
            "folder");
  EXPECT_EQ(harness.get(ids[1], bytes), Outcome::Failed);
  EXPECT_NE(harness.why.find("the folder has not answered before"),
            std::string::npos)
      << harness.why;
  RecordId id;
  EXPECT_EQ(harness.put(contents(1, 1024), "encoder", 0, id), Outcome::Failed);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

TEST(OffloadFaults, AreParsedOrRefused) {
  for (const char *text : {"", "do=kill", "op=write;nth=3;do=errno EIO",
                           " op=read; p=1/100,7; do=flip 12 |every=2;do=twice ",
                           "op=open;do=errno 13"})
    EXPECT_TRUE(parseFaultRules(text).ok()) << text;
  for (const char *text :
       {"op=seek;do=drop", "nth=0;do=drop", "every=;do=drop", "p=1/0,1;do=drop",
        "p=2/3,1;do=drop", "p=1/3;do=drop", "do=errno", "do=errno EWHAT",
        "do=drop 3", "do=flip -1", "do=explode", "nonsense",
        "op=open;do=flip 1", "op=write", "nth=99999999999999999999;do=drop"})
    EXPECT_FALSE(parseFaultRules(text).ok()) << text;
  EXPECT_EQ(parseFaultRules("op=write").message(),
            "the faults 'op=write' do not say what to do: do=...");
  EXPECT_NE(
      parseFaultRules("nth=1;do=explode")
          .message()
          .find("'do=explode' in the faults 'nth=1;do=explode' is none "
                "of op, nth, every, p and do={errno, short, flip, drop, torn, "
                "stale, swap, delay, never, twice, reorder, kill} with"),
      std::string::npos);
}

} // namespace
