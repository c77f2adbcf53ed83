//===- OffloadPersistentTest.cpp - records that cannot be computed again --===//
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

struct OffloadPersistent : testing::Test {
  static RecordId put(Harness &harness, const Bytes &bytes) {
    return harness.put(bytes, "state", 0, true);
  }
  /// Ends what is resident.
  static void moveOn(Harness &harness) {
    std::vector<RecordId> others;
    for (unsigned i = 0; i < harness.options.core.slots; ++i)
      others.push_back(harness.put(contents(99 + i, 1024), "other"));
    EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    for (RecordId other : others)
      harness.drop(other);
  }
  bool isThere(Harness &harness, RecordId id) {
    uint64_t bytes;
    uint32_t pieces;
    if (harness.core->begin(id, bytes, pieces, harness.why) != Outcome::Ready)
      return false;
    harness.core->end(id, false);
    return true;
  }
  HarnessOptions options;
};

TEST_F(OffloadPersistent, AreReadBackBeforeTheyCountAsWritten) {
  Harness harness(options);
  RecordId id = put(harness, contents(1, 2500));
  RecordId other = harness.put(contents(2, 1024));
  while (harness.core->counts().verified == 0) {
    EXPECT_EQ(harness.core->finish(harness.why), Outcome::Wait);
    EXPECT_EQ(harness.get(id), contents(1, 2500));
    EXPECT_TRUE(harness.step());
  }
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  // Three blocks there and back, and one there.
  unsigned writes = 0, reads = 0;
  for (const Transfer &transfer : harness.log)
    ++(transfer.kind == Transfer::Kind::Write ? writes : reads);
  EXPECT_EQ(writes, 4u);
  EXPECT_EQ(reads, 3u);
  EXPECT_EQ(harness.core->counts().verified, 2500u);
  moveOn(harness);
  EXPECT_EQ(harness.get(id), contents(1, 2500));
  EXPECT_EQ(harness.get(other), contents(2, 1024));
}

TEST_F(OffloadPersistent, AreWrittenElsewhereWhereTheyCameBackWrong) {
  for (unsigned files : {1, 2})
    for (const char *faults :
         {"op=write;nth=1;do=flip 9", "op=write;nth=1;do=drop",
          "op=write;nth=1;do=torn 1", "op=read;nth=1;do=flip 9",
          "op=read;nth=1;do=stale",
          "op=read;nth=1;do=errno EIO | "
          "op=read;nth=2;do=errno EIO | op=read;nth=3;do=errno EIO"}) {
      SCOPED_TRACE(faults);
      options.files = files;
      options.faults = faults;
      Harness harness(options);
      RecordId id = put(harness, contents(1, 1024));
      EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
      std::vector<Transfer> writes;
      for (const Transfer &transfer : harness.log)
        if (transfer.kind == Transfer::Kind::Write)
          writes.push_back(transfer);
      ASSERT_EQ(writes.size(), 2u);
      EXPECT_EQ(writes[0].file != writes[1].file, files == 2);
      EXPECT_TRUE(files == 2 || writes[0].offset != writes[1].offset);
      EXPECT_EQ(harness.core->counts().quarantined, 1024u);
      moveOn(harness);
      EXPECT_EQ(harness.get(id), contents(1, 1024));
    }
}

TEST_F(OffloadPersistent, ComeBackWhicheverBitWasWrittenWrong) {
  for (unsigned bit = 0; bit < 8 * 1024 && !HasFailure(); bit += slowness) {
    options.faults = "op=write;nth=1;do=flip " + std::to_string(bit);
    SCOPED_TRACE(bit);
    Harness harness(options);
    RecordId id = put(harness, contents(1, 1024));
    moveOn(harness);
    EXPECT_EQ(harness.get(id), contents(1, 1024));
    EXPECT_EQ(harness.core->counts().mismatches, 1u);
  }
}

TEST_F(OffloadPersistent, ComeBackWhereverADiskFailsOnce) {
  options.files = 2;
  for (const char *action :
       {"errno EIO", "errno ENOSPC", "errno EINTR", "errno EAGAIN", "short 513",
        "short 100", "flip 4321", "drop", "torn 1", "torn 0", "stale", "swap",
        "delay 5000", "never", "twice", "reorder 3"})
    for (unsigned nth = 1;; ++nth) {
      options.faults = "nth=" + std::to_string(nth) + ";do=" + action;
      SCOPED_TRACE(options.faults);
      Harness harness(options);
      std::vector<RecordId> ids;
      auto size = [](uint64_t i) {
        return i % 3 == 0 ? 300 : 600 * (i % 4) + 200;
      };
      for (uint64_t i = 0; i < 12; ++i) {
        ids.push_back(put(harness, contents(i, size(i))));
        harness.step();
      }
      EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
      moveOn(harness);
      for (uint64_t i = 0; i < 12; ++i) {
        Bytes bytes;
        // What a folder has that never answers again is lost.
        if (harness.get(ids[i], bytes) == Outcome::Ready)
          EXPECT_EQ(bytes, contents(i, size(i)));
        else
          EXPECT_EQ(harness.core->counts().deadFolders, 1u) << harness.why;
        harness.drop(ids[i]);
      }
      if (HasFailure())
        return;
      if (harness.device->faults() == 0) { // There are no more of them.
        EXPECT_GT(nth, 40u);
        break;
      }
    }
}

TEST_F(OffloadPersistent, StayInMemoryWhereNoFolderTakesThem) {
  for (const char *faults :
       {"op=write;do=errno EIO", "op=write;do=drop", "op=read;do=errno EIO"}) {
    SCOPED_TRACE(faults);
    options.faults = faults;
    Harness harness(options);
    RecordId id = put(harness, contents(1, 1024));
    EXPECT_EQ(harness.finish(), Outcome::Failed);
    EXPECT_EQ(harness.why.rfind("the record of 'state', 1024 bytes, was not "
                                "stored: ",
                                0),
              0u)
        << harness.why;
    EXPECT_EQ(harness.core->counts().failures, 1u);
    EXPECT_EQ(harness.get(id), contents(1, 1024));
    char *data = nullptr;
    EXPECT_EQ(harness.borrow(id, data), Outcome::Ready);
    EXPECT_EQ(Bytes(data, data + 1024), contents(1, 1024));
    EXPECT_TRUE(harness.core->giveBack(data).ok());
    // They leave others less memory, and in the end none.
    std::vector<RecordId> more;
    RecordId next;
    while (more.size() < 9 && harness.put(contents(2, 1024), "state", 0, next,
                                          true) == Outcome::Ready) {
      more.push_back(next);
      EXPECT_EQ(harness.finish(), Outcome::Failed);
    }
    EXPECT_EQ(more.size(), 1u);
    EXPECT_NE(harness.why.find("finds no memory: persistent records that no "
                               "folder takes hold 2048 bytes: drop them"),
              std::string::npos)
        << harness.why;
    for (RecordId one : more)
      EXPECT_EQ(harness.get(one), contents(2, 1024));
    for (RecordId one : more)
      harness.drop(one);
    harness.drop(id);
    EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  }
}

TEST_F(OffloadPersistent, GiveTheirMemoryBackWhereNoFolderTookThem) {
  for (unsigned nth = 1; nth <= 6; ++nth)
    options.faults += (nth == 1 ? "" : " | ") + std::string("op=write;nth=") +
                      std::to_string(nth) + ";do=drop";
  Harness harness(options);
  RecordId ids[2];
  for (RecordId &id : ids) {
    id = put(harness, contents(1, 1024));
    harness.settle();
  }
  EXPECT_EQ(harness.core->counts().failures, 2u);
  for (RecordId id : ids)
    harness.drop(id);
  for (uint64_t i = 0; i < 6; ++i)
    harness.put(contents(i, 1024));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
}

TEST_F(OffloadPersistent, StayInMemoryWhereTheDiskIsFull) {
  options.faults = "op=write;do=errno ENOSPC";
  Harness harness(options);
  RecordId id = put(harness, contents(1, 1024));
  EXPECT_EQ(harness.finish(), Outcome::Failed);
  EXPECT_NE(harness.why.find("No space left on device, and no other has room"),
            std::string::npos)
      << harness.why;
  EXPECT_EQ(harness.get(id), contents(1, 1024));
  RecordId next;
  EXPECT_EQ(harness.put(contents(2, 1024), "state", 0, next, true),
            Outcome::Failed);
  EXPECT_NE(harness.why.find("there is no room"), std::string::npos)
      << harness.why;
}

TEST_F(OffloadPersistent, AreWrittenAgainWhereTheirFolderHangs) {
  options.files = 2;
  // At the write, at what is read back, and behind that.
  for (const char *faults :
       {"op=write;nth=1;do=never", "op=read;nth=1;do=never",
        "op=write;nth=2;do=never"}) {
    SCOPED_TRACE(faults);
    options.faults = faults;
    Harness harness(options);
    RecordId first = put(harness, contents(1, 1024));
    EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    RecordId second = put(harness, contents(2, 1024));
    EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    EXPECT_EQ(harness.core->counts().deadFolders, 1u);
    EXPECT_EQ(harness.get(first), contents(1, 1024));
    EXPECT_EQ(harness.get(second), contents(2, 1024));
  }
}

TEST_F(OffloadPersistent, ReplaceOthersOnceTheyAreVerified) {
  Harness harness(options);
  RecordId old = put(harness, contents(1, 3000));
  RecordId next = put(harness, contents(2, 3000));
  EXPECT_EQ(harness.core->replace(old, next, harness.why), Outcome::Ready);
  while (harness.core->counts().verified == 0) {
    EXPECT_EQ(harness.get(old), contents(1, 3000));
    harness.step();
  }
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  EXPECT_FALSE(isThere(harness, old));
  EXPECT_EQ(harness.get(next), contents(2, 3000));
  // At once, where it is verified already.
  RecordId third = put(harness, contents(3, 3000));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  EXPECT_EQ(harness.core->replace(next, third, harness.why), Outcome::Ready);
  EXPECT_FALSE(isThere(harness, next));
  EXPECT_EQ(harness.get(third), contents(3, 3000));
}

TEST_F(OffloadPersistent, LeaveWhatTheyReplaceWhereTheyFail) {
  options.faults = "op=write;nth=2;do=drop | op=write;nth=3;do=drop | "
                   "op=write;nth=4;do=drop";
  Harness harness(options);
  RecordId old = put(harness, contents(1, 1024));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  RecordId next = put(harness, contents(2, 1024));
  EXPECT_EQ(harness.core->replace(old, next, harness.why), Outcome::Ready);
  EXPECT_EQ(harness.finish(), Outcome::Failed);
  EXPECT_EQ(harness.get(old), contents(1, 1024));
  EXPECT_EQ(harness.get(next), contents(2, 1024));
  // The next version ends both.
  RecordId third = put(harness, contents(3, 1024));
  EXPECT_EQ(harness.core->replace(next, third, harness.why), Outcome::Ready);
  harness.settle();
  EXPECT_FALSE(isThere(harness, old));
  EXPECT_FALSE(isThere(harness, next));
  EXPECT_EQ(harness.get(third), contents(3, 1024));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
}

TEST_F(OffloadPersistent, LeaveWhatTheyReplaceWhereMemoryLosesThem) {
  Harness harness(options);
  RecordId old = put(harness, contents(1, 1024));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  // Two in one block, of which one is damaged before it is written.
  RecordId next = put(harness, contents(2, 300));
  RecordId other = put(harness, contents(3, 300));
  EXPECT_EQ(harness.core->replace(old, next, harness.why), Outcome::Ready);
  Bytes bytes = contents(2, 300);
  char *staging = harness.staging.get();
  char *end = staging + options.core.slots * options.core.unit;
  char *found = std::search(staging, end, bytes.begin(), bytes.end());
  ASSERT_NE(found, end);
  found[7] ^= 1;
  EXPECT_EQ(harness.get(next, bytes), Outcome::Failed);
  EXPECT_EQ(harness.finish(), Outcome::Failed);
  harness.core->beginFinish();
  harness.settle();
  harness.core->endFinish();
  EXPECT_EQ(harness.core->counts().verified, 1024u + 300u);
  EXPECT_EQ(harness.get(old), contents(1, 1024));
  EXPECT_EQ(harness.get(other), contents(3, 300));
}

TEST_F(OffloadPersistent, StayWhereTheyReplaceEachOther) {
  Harness harness(options);
  RecordId first = put(harness, contents(1, 1024));
  RecordId second = put(harness, contents(2, 1024));
  EXPECT_EQ(harness.core->replace(first, second, harness.why), Outcome::Ready);
  EXPECT_EQ(harness.core->replace(second, first, harness.why), Outcome::Ready);
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  EXPECT_NE(isThere(harness, first), isThere(harness, second));
}

TEST_F(OffloadPersistent, AreWrittenAlsoWhereTheyHaveBeenGot) {
  Harness harness(options);
  RecordId id = put(harness, contents(1, 1024));
  EXPECT_EQ(harness.get(id), contents(1, 1024));
  harness.settle();
  EXPECT_EQ(harness.core->counts().verified, 1024u);
}

TEST_F(OffloadPersistent, LetNoPutWaitForRoomThatDoesNotCome) {
  options.core.slots = 6;
  // The second part of what finds no room comes back later than the first.
  options.faults = "op=write;nth=2;do=errno ENOSPC | op=write;nth=3;do=short "
                   "512 | op=write;nth=4;do=errno ENOSPC";
  Harness harness(options);
  RecordId old = put(harness, contents(1, 1024));
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  RecordId full = put(harness, contents(2, 2048));
  RecordId next = put(harness, contents(3, 300));
  EXPECT_EQ(harness.core->replace(old, next, harness.why), Outcome::Ready);
  while (harness.device->faults() == 0)
    harness.step();
  RecordId more;
  EXPECT_EQ(harness.put(contents(4, 1024), "more", 0, more), Outcome::Failed);
  EXPECT_NE(harness.why.find("there is no room"), std::string::npos)
      << harness.why;
  EXPECT_EQ(harness.get(old), contents(1, 1024));
  EXPECT_EQ(harness.get(full), contents(2, 2048));
  EXPECT_EQ(harness.get(next), contents(3, 300));
}

TEST_F(OffloadPersistent, AreDroppedByHandWithoutWhatTheyReplace) {
  Harness harness(options);
  RecordId old = put(harness, contents(1, 1024));
  RecordId next = put(harness, contents(2, 1024));
  EXPECT_EQ(harness.core->replace(old, next, harness.why), Outcome::Ready);
  harness.drop(next);
  EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
  EXPECT_EQ(harness.get(old), contents(1, 1024));
}

TEST_F(OffloadPersistent, NeedRoomForOneVersionMore) {
  // Of two states, with a rest in a block of their own or in a common one.
  for (uint64_t bytes : {1024, 1300}) {
    options.extents = 2 * 2 + 2;
    Harness harness(options);
    RecordId states[2] = {put(harness, contents(0, bytes)),
                          put(harness, contents(1, bytes))};
    for (uint64_t step = 2; step < 100 && !HasFailure(); ++step) {
      RecordId &state = states[step % 2];
      EXPECT_EQ(harness.get(state), contents(step - 2, bytes));
      RecordId next = put(harness, contents(step, bytes));
      EXPECT_EQ(harness.core->replace(state, next, harness.why),
                Outcome::Ready);
      state = next;
    }
    EXPECT_EQ(harness.finish(), Outcome::Ready) << harness.why;
    EXPECT_EQ(harness.core->counts().records, 2u);
  }
}

TEST_F(OffloadPersistent, SayWhatCannotBeReplaced) {
  Harness harness(options);
  RecordId old = put(harness, contents(1, 1024));
  RecordId usual = harness.put(contents(2, 1024), "activation");
  EXPECT_EQ(harness.core->replace(old, usual, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.why, "the record of 'activation', 1024 bytes, was not put "
                         "as a persistent one, and cannot replace another one");
  EXPECT_EQ(harness.core->replace(old, old, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.why, "the record of 'state', 1024 bytes, cannot replace "
                         "itself");
  harness.drop(usual);
  EXPECT_EQ(harness.core->replace(usual, old, harness.why), Outcome::Misused);
  EXPECT_EQ(harness.core->replace(old, usual, harness.why), Outcome::Misused);
}

TEST_F(OffloadPersistent, HoldTheMemoryThatIsBeingCompared) {
  options.core.slots = 3;
  Harness harness(options);
  RecordId id = put(harness, contents(1, 1024));
  Core::Work work;
  while (work.checks.empty()) {
    harness.core->advance(harness.device->now(), work);
    harness.device->submit(work.submit.data(), work.submit.size());
    Completion completion;
    if (harness.device->reap(&completion, 1, work.next) == 1)
      harness.core->complete(completion, harness.device->now());
  }
  harness.drop(id);
  RecordId other;
  Core::Span span;
  ASSERT_EQ(harness.core->put(1024, "other", 0, false, other, harness.why),
            Outcome::Ready);
  ASSERT_EQ(harness.core->fill(other, span, harness.why), Outcome::Ready);
  EXPECT_NE(span.memory, work.checks[0].data);
  harness.core->checked(work.checks[0], true);
  EXPECT_EQ(harness.core->counts().verified, 0u);
  harness.core->giveUp(other);
}

} // namespace
