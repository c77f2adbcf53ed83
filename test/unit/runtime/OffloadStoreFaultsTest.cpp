//===- OffloadStoreFaultsTest.cpp - stores on disks that fail -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadStores.h"
#include <csignal>
#include <sys/wait.h>
#include <thread>

using namespace drawloom;

namespace {

using StoreFaults = Stores;
INSTANTIATE_TEST_SUITE_P(Offload, StoreFaults,
                         testing::Values("memory", "threads", "io_uring"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST_P(StoreFaults, EndInAnErrorThatNamesTheSite) {
  options.faults = "op=read;do=errno EIO";
  open();
  DrawloomRecord record = put(contents(1, mebibyte), "encoder.3");
  DrawloomRecord fine = put(contents(2, 10), "encoder.4");
  for (uint64_t i = 0; i < 30; ++i)
    put(contents(i, mebibyte));
  finish();
  Bytes bytes(mebibyte);
  int done = 0;
  std::string text = message(
      drawloomStoreGet(store, record, bytes.data(), -1, nullptr, &done));
  EXPECT_NE(text.find("the record of 'encoder.3', 1048576 bytes, cannot be "
                      "read back: reading from byte "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" of the file in '" + folder +
                      "' failed: "
                      "Input/output error, 3 times"),
            std::string::npos)
      << text;
  EXPECT_EQ(done, 0);
  // It stays so until it is dropped.
  EXPECT_EQ(message(drawloomStoreGet(store, record, bytes.data(), -1, nullptr,
                                     &done)),
            text);
  EXPECT_EQ(message(drawloomStoreFinish(store, -1, &done)), text);
  drop(record);
  finish();
  static_cast<void>(fine);
}

TEST_P(StoreFaults, GiveTheSameBytesOrAnErrorWhereDisksFail) {
  options.capacity = 256 * mebibyte;
  options.faults =
      "p=1/20,1;do=errno EIO | op=write;p=1/20,2;do=drop | p=1/20,3;do=flip 9 "
      "| p=1/10,4;do=short 70000 | p=1/10,5;do=twice | p=1/10,6;do=delay 2000 "
      "| p=1/4,7;do=reorder 1 | p=1/10,8;do=errno EINTR";
  open();
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t round = 0; round < 4; ++round) {
        std::vector<DrawloomRecord> records(12);
        std::string site = "layer" + std::to_string(thread);
        auto isRight = [&](DrawloomError *error) {
          std::string text = message(error);
          EXPECT_TRUE(text.empty() ||
                      text.find("'" + site + "'") != std::string::npos)
              << text;
          return text.empty();
        };
        for (uint64_t i = 0; i < records.size(); ++i) {
          Bytes bytes = contents(thread + 10 * i, 900000 + 1000 * i);
          int done = 0;
          if (!isRight(drawloomStorePut(store, bytes.data(), bytes.size(),
                                        site.c_str(), 12 - i, 0, -1,
                                        &records[i], &done)))
            records[i] = {};
        }
        for (uint64_t i = records.size(); i-- > 0;) {
          if (records[i].generation == 0)
            continue;
          Bytes wanted = contents(thread + 10 * i, 900000 + 1000 * i);
          void *data = nullptr;
          Bytes bytes(wanted.size());
          int done = 0;
          if (i % 2 == 0) {
            if (isRight(drawloomStoreGet(store, records[i], bytes.data(), -1,
                                         nullptr, &done)))
              EXPECT_TRUE(bytes == wanted);
          } else if (isRight(
                         drawloomStoreBorrow(store, records[i], -1, &data))) {
            expectSame(data, wanted);
            EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
          }
          drop(records[i]);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  finish();
  EXPECT_GT(counts().retries, 0u);
  EXPECT_EQ(counts().records, 0u);
  EXPECT_LE(counts().mostMemory, options.memory);
}

/// Puts 12 records, and gets or borrows them in the reverse order. Returns how
/// many of them were errors; each names the record's site.
unsigned runStep(DrawloomStore *store) {
  unsigned errors = 0;
  auto isRight = [&](DrawloomError *error, uint64_t i) {
    std::string text = message(error);
    errors += !text.empty();
    EXPECT_TRUE(text.empty() || text.find("'layer" + std::to_string(i) + "'") !=
                                    std::string::npos)
        << text;
    return text.empty();
  };
  DrawloomRecord records[12] = {};
  int done = 0;
  for (uint64_t i = 0; i < 12; ++i) {
    Bytes bytes = contents(i, 400000 + i % 4 * 300000);
    std::string site = "layer" + std::to_string(i);
    if (!isRight(drawloomStorePut(store, bytes.data(), bytes.size(),
                                  site.c_str(), 12 - i, 0, -1, &records[i],
                                  &done),
                 i))
      records[i] = {};
  }
  EXPECT_EQ(message(drawloomStoreExpect(store, nullptr, 0)), "");
  for (uint64_t i = 12; i-- > 0;) {
    if (records[i].generation == 0)
      continue;
    Bytes wanted = contents(i, 400000 + i % 4 * 300000), found(wanted.size());
    void *data = nullptr;
    if (i % 3 == 0) {
      if (isRight(drawloomStoreGet(store, records[i], found.data(), -1, nullptr,
                                   &done),
                  i))
        EXPECT_TRUE(found == wanted);
    } else if (isRight(drawloomStoreBorrow(store, records[i], -1, &data), i)) {
      expectSame(data, wanted);
      EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
    }
    EXPECT_EQ(message(drawloomStoreDrop(store, records[i])), "");
  }
  return errors;
}

/// Of the places where something fails: with the thread sanitizer, which takes
/// its time and looks for races, which do not depend on the place, two of them.
std::vector<int> some(std::vector<int> places) {
#if defined(__has_feature) && __has_feature(thread_sanitizer)
  places = {places[1], places[3]};
#endif
  return places;
}

TEST_P(StoreFaults, GiveTheSameBytesOrAnErrorWhereverTheyOccur) {
  options.capacity = 32 * mebibyte;
  options.memory = 8 * mebibyte;
  options.timeout = 200'000'000;
  for (const char *action :
       {"errno EIO", "errno EINTR", "short 70001", "short 100", "flip 4321",
        "drop", "torn 3", "stale", "swap", "delay 5000", "twice", "reorder 3",
        "never"})
    for (int nth : some({1, 2, 4, 9, 14, 18})) {
      std::string faults = "nth=" + std::to_string(nth) + ";do=" + action;
      SCOPED_TRACE(faults);
      options.faults = faults.c_str();
      open();
      runStep(store);
      // The next one is as if nothing had been, where there is a disk for it.
      bool hangs = action == std::string("never");
      if (!hangs && nth < 12)
        EXPECT_EQ(runStep(store), 0u);
      EXPECT_EQ(counts().records, 0u);
      std::string text = message(drawloomStoreClose(store, 300'000'000));
      store = nullptr;
      EXPECT_TRUE(hangs || text.empty()) << text;
      if (HasFailure())
        return;
    }
}

TEST_P(StoreFaults, LeavePersistentRecordsWhereverTheyOccur) {
  options.capacity = 32 * mebibyte;
  options.memory = 8 * mebibyte;
  options.timeout = 200'000'000;
  for (const char *action :
       {"errno EIO", "errno EINTR", "short 70001", "short 100", "flip 4321",
        "drop", "torn 3", "stale", "swap", "delay 5000", "twice", "reorder 3",
        "never"})
    for (int nth : some({1, 2, 3, 4, 7, 12})) {
      std::string faults = "nth=" + std::to_string(nth) + ";do=" + action;
      SCOPED_TRACE(faults);
      options.faults = faults.c_str();
      open();
      bool hangs = action == std::string("never");
      auto size = [](uint64_t i) { return 900000 + i % 4 * 300000; };
      // States that two steps replace.
      DrawloomRecord states[4];
      for (uint64_t step = 0; step < 3; ++step)
        for (uint64_t i = 0; i < 4; ++i) {
          Bytes bytes = contents(10 * step + i, size(i));
          DrawloomRecord next = {};
          int done = 0;
          std::string text = message(
              drawloomStorePut(store, bytes.data(), bytes.size(), "state", 0,
                               DRAWLOOM_PUT_PERSISTENT, -1, &next, &done));
          if (text.empty() && step > 0)
            text = message(drawloomStoreReplace(store, states[i], next));
          EXPECT_TRUE(hangs || text.empty()) << text;
          if (!text.empty())
            step = 3, i = 4;
          else
            states[i] = next;
        }
      if (!hangs) {
        finish();
        EXPECT_EQ(counts().records, 4u);
        EXPECT_GE(counts().verified, 3 * (size(0) + size(1)));
        for (uint64_t i = 0; i < 4; ++i)
          EXPECT_TRUE(get(states[i], size(i)) == contents(20 + i, size(i)));
      }
      static_cast<void>(message(drawloomStoreClose(store, 300'000'000)));
      store = nullptr;
      if (HasFailure())
        return;
    }
}

TEST_P(StoreFaults, LeavePersistentRecordsInMemoryWhereNoFolderTakesThem) {
  options.faults = "op=write;do=drop";
  open();
  DrawloomRecord record =
      put(contents(1, mebibyte + 5), "moments", 0, DRAWLOOM_PUT_PERSISTENT);
  int done = 0;
  std::string text = message(drawloomStoreFinish(store, -1, &done));
  EXPECT_NE(text.find("the record of 'moments', 1048581 bytes, was not stored: "
                      "byte "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" gives other bytes than were written to it"),
            std::string::npos)
      << text;
  EXPECT_TRUE(get(record, mebibyte + 5) == contents(1, mebibyte + 5));
  EXPECT_EQ(counts().verified, 0u);
  drop(record);
  finish();
}

TEST_P(StoreFaults, LeaveNothingWhereTheProcessIsKilled) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes no new threads after a fork";
#endif
  for (int nth : {1, 2, 7, 20, 33}) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20); // A hang is a failure, not a test that never ends.
      std::string faults = "nth=" + std::to_string(nth) + ";do=kill";
      options.faults = faults.c_str();
      open();
      DrawloomRecord records[20];
      for (uint64_t i = 0; i < 20; ++i)
        records[i] = put(contents(i, mebibyte));
      finish();
      for (uint64_t i = 0; i < 20; ++i)
        get(records[i], mebibyte);
      for (;;)
        ::pause();
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(killed) << nth << " " << status;
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
}

TEST_P(StoreFaults, EndWhereTheDiskHangs) {
  options.faults = "op=write;nth=3;do=never";
  options.timeout = 100'000'000;
  open();
  std::vector<DrawloomRecord> records;
  Bytes bytes = contents(1, mebibyte);
  for (uint64_t i = 0; i < 3; ++i)
    records.push_back(put(bytes, "encoder"));
  int done = 0;
  std::string text = message(drawloomStoreFinish(store, -1, &done));
  EXPECT_NE(text.find("'" + folder + "' has not answered for 100 ms"),
            std::string::npos)
      << text;
  EXPECT_EQ(counts().deadFolders, 1u);
  EXPECT_GE(counts().leaked, mebibyte);
  text = message(drawloomStoreClose(store, 100'000'000));
  store = nullptr;
  EXPECT_NE(text.find("cannot be given back"), std::string::npos) << text;
}

} // namespace
