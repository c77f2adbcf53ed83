//===- OffloadCoreTest.cpp - what becomes of records ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadHarness.h"

using namespace drawloom::runtime::offload;

namespace {

TEST(OffloadSlab, UsesAFullFileWhereItWasWrittenBefore) {
  Slab slab(4096);
  slab.addFile(uint64_t(4) * 4096);
  Extent first = slab.take(0);
  slab.take(0);
  slab.close(0);
  EXPECT_EQ(slab.free(), 0u);
  EXPECT_EQ(slab.choose(16), -1);
  slab.giveBack(first);
  EXPECT_EQ(slab.free(), 1u);
  EXPECT_EQ(slab.choose(16), 0);
  EXPECT_EQ(slab.take(0).offset, first.offset);
  EXPECT_EQ(slab.choose(16), -1);
}

TEST(OffloadSlab, CountsWhatFailedOnce) {
  Slab slab(1024);
  slab.addFile(4096);
  slab.addFile(4096);
  slab.quarantine(slab.take(0));
  slab.quarantine(slab.take(1));
  EXPECT_EQ(slab.quarantined(), 2048u);
  slab.bury(0);
  slab.bury(0);
  EXPECT_EQ(slab.quarantined(), 4096u + 1024u);
}

TEST(OffloadCore, GivesDisksMoreTimeWhereTheProcessHadNone) {
  HarnessOptions options;
  options.faults = "op=write;nth=1;do=delay 2500000";
  for (bool stopped : {true, false}) {
    Harness harness(options);
    RecordId id = harness.put(contents(1, 1024));
    harness.step();
    // Nobody looked for longer than a transfer may take.
    uint64_t late = 2 * options.core.timeout;
    Completion completion;
    EXPECT_EQ(harness.device->reap(&completion, 1, late), 0u);
    EXPECT_EQ(harness.device->now(), late);
    if (stopped)
      harness.core->renew(late);
    EXPECT_EQ(harness.finish(), stopped ? Outcome::Ready : Outcome::Failed);
    EXPECT_EQ(harness.core->counts().deadFolders, stopped ? 0u : 1u);
    harness.drop(id);
  }
}

TEST(OffloadCore, GivesBackWhatWasPut) {
  Harness harness({});
  std::vector<RecordId> ids;
  uint64_t sizes[] = {0, 1, 511, 512, 513, 1023, 1024, 1025, 4096, 5000};
  for (uint64_t size : sizes)
    ids.push_back(harness.put(contents(size, size)));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(harness.get(ids[i]), contents(sizes[i], sizes[i])) << sizes[i];
    EXPECT_EQ(harness.get(ids[i]), contents(sizes[i], sizes[i])) << "again";
  }
  CoreCounts counts = harness.core->counts();
  EXPECT_EQ(counts.puts, ids.size());
  EXPECT_EQ(counts.gets, 2 * ids.size());
  EXPECT_EQ(counts.bytesGot, 2 * counts.bytesPut);
  EXPECT_GT(counts.read, 0u);
  EXPECT_EQ(counts.retries + counts.failures + counts.strays, 0u);
}

TEST(OffloadCore, CutsNoMoreThanItsFilesHave) {
  HarnessOptions options;
  options.extents = 3;
  Harness harness(options);
  RecordId first = harness.put(contents(1, 2048));
  RecordId second = harness.put(contents(2, 100));
  RecordId third;
  EXPECT_EQ(harness.put(contents(3, 1024), "wide", 0, third), Outcome::Failed);
  EXPECT_EQ(harness.why,
            "the record of 'wide' has 1024 bytes, for which there is no room: "
            "the store's 2 records have 2148 bytes, and its files room for 0 "
            "more, 0 having failed: drop records, or open it with more "
            "capacity");
  // It shares a block with the second one.
  third = harness.put(contents(3, 512));
  harness.drop(first);
  RecordId fourth = harness.put(contents(4, 2048));
  EXPECT_EQ(harness.get(fourth), contents(4, 2048));
  EXPECT_EQ(harness.get(third), contents(3, 512));
  EXPECT_EQ(harness.get(second), contents(2, 100));
}

TEST(OffloadCore, KnowsRecordsByTheirGeneration) {
  Harness harness({});
  RecordId first = harness.put(contents(1, 600));
  harness.drop(first);
  RecordId second = harness.put(contents(2, 600));
  EXPECT_EQ(first.index, second.index);
  std::string stale = "there is no record 0 of generation 1 in the store: it "
                      "was dropped, or never put";
  Bytes bytes;
  char *data = nullptr;
  EXPECT_EQ(harness.get(first, bytes), Outcome::Misused);
  EXPECT_EQ(harness.why, stale);
  EXPECT_EQ(harness.borrow(first, data), Outcome::Misused);
  EXPECT_EQ(harness.core->drop(first, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.why, stale);
  RecordId both[] = {second, first};
  EXPECT_EQ(harness.core->expect(both, 2, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.why, "entry 1 of what is expected: " + stale);
  EXPECT_EQ(harness.core->drop({7, 1}, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.core->drop({0, 0}, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.get(second), contents(2, 600));
}

TEST(OffloadCore, LendsMemoryThatOutlivesTheRecord) {
  Harness harness({});
  RecordId id = harness.put(contents(1, 2500));
  EXPECT_EQ(harness.finish(), Outcome::Ready);
  char *data = nullptr, *same = nullptr;
  ASSERT_EQ(harness.borrow(id, data), Outcome::Ready);
  ASSERT_EQ(harness.borrow(id, same), Outcome::Ready);
  EXPECT_EQ(data, same);
  EXPECT_EQ(harness.core->counts().lent, 2560u);
  harness.drop(id);
  harness.settle();
  EXPECT_EQ(Bytes(data, data + 2500), contents(1, 2500));
  EXPECT_TRUE(harness.core->giveBack(data).ok());
  EXPECT_TRUE(harness.core->giveBack(data).ok());
  EXPECT_EQ(harness.core->giveBack(data).message(),
            "what is returned was not borrowed from this store, or has been "
            "returned before");
  EXPECT_EQ(harness.core->counts().lent, 0u);
}

TEST(OffloadCore, RefusesToLendMoreThanItsMemory) {
  Harness harness({});
  RecordId large = harness.put(contents(1, 5000));
  RecordId first = harness.put(contents(2, 2048));
  RecordId second = harness.put(contents(3, 2048));
  RecordId third = harness.put(contents(4, 2048));
  char *data = nullptr, *other = nullptr;
  EXPECT_EQ(harness.borrow(large, data), Outcome::LacksMemory);
  EXPECT_NE(harness.why.find("larger than the 4096 bytes"), std::string::npos);
  ASSERT_EQ(harness.borrow(first, data), Outcome::Ready);
  ASSERT_EQ(harness.borrow(second, other), Outcome::Ready);
  char *more = nullptr;
  EXPECT_EQ(harness.borrow(third, more), Outcome::LacksMemory);
  EXPECT_NE(harness.why.find("records that are borrowed hold 4096 of the 4096 "
                             "bytes for them"),
            std::string::npos)
      << harness.why;
  // What is lent stays what it is, and the others can be got all the same.
  char *same = nullptr;
  ASSERT_EQ(harness.borrow(first, same), Outcome::Ready);
  EXPECT_EQ(same, data);
  EXPECT_TRUE(harness.core->giveBack(same).ok());
  EXPECT_EQ(harness.get(large), contents(1, 5000));
  EXPECT_EQ(harness.get(third), contents(4, 2048));
  EXPECT_TRUE(harness.core->giveBack(data).ok());
  ASSERT_EQ(harness.borrow(third, more), Outcome::Ready);
  EXPECT_EQ(Bytes(more, more + 2048), contents(4, 2048));
  EXPECT_TRUE(harness.core->giveBack(other).ok());
  EXPECT_TRUE(harness.core->giveBack(more).ok());
  EXPECT_EQ(harness.core->counts().mostMemory, 4 * 1024 + 4096u);
}

TEST(OffloadCore, SaysWhenTheMachineLacksMemory) {
  Harness harness({});
  RecordId id = harness.put(contents(1, 2048));
  harness.lacksMemory = true;
  char *data = nullptr;
  EXPECT_EQ(harness.borrow(id, data), Outcome::LacksMemory);
  EXPECT_NE(harness.why.find("the machine lacks the memory"),
            std::string::npos);
  harness.lacksMemory = false;
  ASSERT_EQ(harness.borrow(id, data), Outcome::Ready);
  EXPECT_TRUE(harness.core->giveBack(data).ok());
}

TEST(OffloadCore, ForwardsWhatIsStillInMemoryAndNeverWritesIt) {
  Harness harness({});
  RecordId id = harness.put(contents(1, 2048));
  EXPECT_EQ(harness.get(id), contents(1, 2048));
  harness.drop(id);
  harness.settle();
  CoreCounts counts = harness.core->counts();
  EXPECT_EQ(counts.forwarded, 2048u);
  EXPECT_EQ(counts.cancelled, 2048u);
  EXPECT_EQ(counts.written, 0u);
  EXPECT_EQ(counts.read, 0u);
}

TEST(OffloadCore, DefersWhatHasBeenGot) {
  Harness harness({});
  RecordId first = harness.put(contents(1, 1024));
  EXPECT_EQ(harness.get(first), contents(1, 1024));
  harness.settle();
  EXPECT_EQ(harness.core->counts().written, 0u);
  // Until its memory is needed.
  std::vector<RecordId> ids;
  for (int i = 0; i < 6; ++i)
    ids.push_back(harness.put(contents(i, 1024)));
  EXPECT_GT(harness.core->counts().written, 0u);
  EXPECT_EQ(harness.get(first), contents(1, 1024));
}

TEST(OffloadCore, WritesFirstWhatIsDueLast) {
  HarnessOptions options;
  options.core.slots = 9;
  options.core.depth = 1;
  Harness harness(options);
  std::vector<RecordId> ids;
  uint64_t dues[] = {3, 7, 1, 5};
  for (uint64_t due : dues)
    ids.push_back(harness.put(contents(due, 1024), "layer", due));
  // One is under way at a time.
  harness.step();
  harness.step();
  for (RecordId id : ids)
    harness.drop(id);
  harness.settle();
  EXPECT_EQ(harness.core->counts().written, 2048u);
  EXPECT_EQ(harness.core->counts().cancelled, 2048u);
}

TEST(OffloadCore, PacksSmallRecordsAndWritesThemWhereMemoryIsShort) {
  Harness harness({});
  std::vector<RecordId> ids;
  for (int i = 0; i < 9; ++i)
    ids.push_back(harness.put(contents(i, 300)));
  harness.settle();
  // Two share a block, which is written when it is full.
  EXPECT_EQ(harness.core->counts().written, 4 * 1024u);
  EXPECT_EQ(harness.finish(), Outcome::Ready);
  EXPECT_EQ(harness.core->counts().written, 4 * 1024u + 512u);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(harness.get(ids[i]), contents(i, 300));
}

TEST(OffloadCore, LetsPutsWaitForTheDisk) {
  Harness harness({});
  RecordId id;
  ASSERT_EQ(harness.core->put(5000, "layer", 0, false, id, harness.why),
            Outcome::Ready);
  // One of four slots is for gets.
  Core::Span span;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(harness.core->fill(id, span, harness.why), Outcome::Ready);
    harness.core->filled(id, 0);
  }
  EXPECT_EQ(harness.core->fill(id, span, harness.why), Outcome::Wait);
  EXPECT_EQ(harness.core->fill(id, span, harness.why), Outcome::Wait);
  while (harness.core->counts().written == 0)
    ASSERT_TRUE(harness.step());
  EXPECT_EQ(harness.core->fill(id, span, harness.why), Outcome::Ready);
  harness.core->giveUp(id);
}

TEST(OffloadCore, ReadsAheadWhatIsExpected) {
  Harness harness({});
  std::vector<RecordId> ids;
  for (uint64_t i = 0; i < 8; ++i)
    ids.push_back(harness.put(contents(i, 2048), "layer", 8 - i));
  EXPECT_EQ(harness.finish(), Outcome::Ready);
  uint64_t before = harness.core->counts().read;
  harness.core->expectAll();
  harness.settle();
  // As far as the memory goes: two are still in staging memory, and have room.
  EXPECT_EQ(harness.core->counts().read - before, 0u);
  for (size_t i = 8; i-- > 0;) {
    char *data = nullptr;
    ASSERT_EQ(harness.borrow(ids[i], data), Outcome::Ready) << harness.why;
    EXPECT_EQ(Bytes(data, data + 2048), contents(i, 2048));
    harness.drop(ids[i]);
    EXPECT_TRUE(harness.core->giveBack(data).ok());
    harness.settle();
  }
  EXPECT_EQ(harness.core->counts().read - before,
            8 * 2048 - harness.core->counts().forwarded);
}

TEST(OffloadCore, ReadsAheadWhatLeavesTheStagingMemory) {
  Harness harness({});
  RecordId id = harness.put(contents(1, 2048));
  ASSERT_EQ(harness.core->expect(&id, 1, harness.why), Outcome::Ready);
  harness.settle();
  EXPECT_EQ(harness.core->counts().read, 0u);
  for (uint64_t i = 0; i < 6; ++i)
    harness.put(contents(i, 1024));
  harness.settle();
  EXPECT_EQ(harness.core->counts().read, 2048u);
  EXPECT_EQ(harness.get(id), contents(1, 2048));
  EXPECT_EQ(harness.core->counts().read, 2048u);
}

TEST(OffloadCore, LetsALateGetJumpTheQueue) {
  HarnessOptions options;
  options.core.loadMemory = 8192;
  Harness harness(options);
  std::vector<RecordId> ids;
  for (uint64_t i = 0; i < 8; ++i)
    ids.push_back(harness.put(contents(i, 2048)));
  EXPECT_EQ(harness.finish(), Outcome::Ready);
  ASSERT_EQ(harness.core->expect(ids.data(), 6, harness.why), Outcome::Ready);
  harness.step();
  uint64_t begin = harness.device->now();
  EXPECT_EQ(harness.get(ids[5]), contents(5, 2048));
  // Two transfers were under way, and two are its own.
  EXPECT_LE(harness.device->now() - begin, 4 * options.device.transferTime);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(harness.get(ids[i]), contents(i, 2048));
}

TEST(OffloadCore, GivesMemoryThatWasReadAheadToWhoNeedsItNow) {
  Harness harness({});
  std::vector<RecordId> ids;
  for (uint64_t i = 0; i < 6; ++i)
    ids.push_back(harness.put(contents(i, 2048)));
  EXPECT_EQ(harness.finish(), Outcome::Ready);
  ASSERT_EQ(harness.core->expect(ids.data(), 3, harness.why), Outcome::Ready);
  harness.settle();
  char *data = nullptr;
  ASSERT_EQ(harness.borrow(ids[3], data), Outcome::Ready) << harness.why;
  EXPECT_EQ(Bytes(data, data + 2048), contents(3, 2048));
  EXPECT_TRUE(harness.core->giveBack(data).ok());
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(harness.get(ids[i]), contents(i, 2048));
}

TEST(OffloadCore, SpreadsRecordsOverFolders) {
  HarnessOptions options;
  options.files = 3;
  options.core.slots = 16;
  Harness harness(options);
  std::vector<RecordId> ids;
  for (uint64_t i = 0; i < 30; ++i)
    ids.push_back(harness.put(contents(i, 1024)));
  EXPECT_EQ(harness.finish(), Outcome::Ready);
  for (uint64_t i = 0; i < 30; ++i)
    EXPECT_EQ(harness.get(ids[i]), contents(i, 1024));
}

} // namespace
