//===- OffloadStoreTest.cpp - the C interface to stores of records --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAWLOOM_OFFLOAD_STEPS says how many steps one store serves in the test of
// its growth.
//
//===----------------------------------------------------------------------===//

#include "OffloadStores.h"
#include <chrono>
#include <fstream>
#include <malloc.h>
#include <sys/wait.h>
#include <thread>

using namespace drawloom;

namespace {

INSTANTIATE_TEST_SUITE_P(Offload, Stores,
                         testing::Values("memory", "threads", "io_uring"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST_P(Stores, GiveBackWhatWasPut) {
  open();
  std::vector<DrawloomRecord> records;
  uint64_t sizes[] = {0,
                      1,
                      4095,
                      4096,
                      70001,
                      mebibyte - 1,
                      mebibyte,
                      mebibyte + 1,
                      9 * mebibyte + 5};
  for (uint64_t size : sizes)
    records.push_back(put(contents(size, size)));
  finish();
  for (size_t i = 0; i < records.size(); ++i)
    EXPECT_TRUE(get(records[i], sizes[i]) == contents(sizes[i], sizes[i]));
  EXPECT_EQ(message(drawloomStoreExpect(store, records.data(), records.size())),
            "");
  for (size_t i = 0; i < records.size(); ++i) {
    if (sizes[i] > 8 * mebibyte) // More than it may lend.
      continue;
    void *data = nullptr;
    ASSERT_EQ(message(drawloomStoreBorrow(store, records[i], -1, &data)), "");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
    drop(records[i]);
    expectSame(data, contents(sizes[i], sizes[i]));
    EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
  }
  EXPECT_LE(counts().mostMemory, options.memory);
  EXPECT_EQ(counts().records, 1u);
}

TEST_P(Stores, WaitForTheDisk) {
  // More than the memory, again and again.
  open();
  for (uint64_t round = 0; round < 3; ++round) {
    std::vector<DrawloomRecord> records;
    for (uint64_t i = 0; i < 24; ++i)
      records.push_back(
          put(contents(i + round, 2 * mebibyte), "layer", 24 - i));
    EXPECT_EQ(message(drawloomStoreExpect(store, nullptr, 0)), "");
    for (uint64_t i = 24; i-- > 0;) {
      void *data = nullptr;
      ASSERT_EQ(message(drawloomStoreBorrow(store, records[i], -1, &data)), "");
      drop(records[i]);
      expectSame(data, contents(i + round, 2 * mebibyte));
      EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
    }
  }
  EXPECT_EQ(counts().records, 0u);
  EXPECT_LE(counts().mostMemory, options.memory);
  EXPECT_EQ(counts().retries + counts().mismatches + counts().failures, 0u);
}

TEST_P(Stores, ServeThreadsSideBySide) {
  options.capacity = 256 * mebibyte;
  open();
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      std::vector<std::pair<DrawloomRecord, uint64_t>> kept;
      for (uint64_t i = 0; i < 60; ++i) {
        uint64_t seed = thread * 1000 + i, size = seed * 7919 % 1500000;
        kept.push_back({put(contents(seed, size), "layer", 100 - i), seed});
        if (i % 3 != 2)
          continue;
        auto [record, wanted] = kept[i % kept.size()];
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i % kept.size()));
        uint64_t count = wanted * 7919 % 1500000;
        if (i % 2 == 0) {
          EXPECT_TRUE(get(record, count) == contents(wanted, count));
        } else {
          void *data = nullptr;
          ASSERT_EQ(message(drawloomStoreBorrow(store, record, -1, &data)), "");
          expectSame(data, contents(wanted, count));
          EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
        }
        drop(record);
        while (kept.size() > 8) {
          drop(kept.front().first);
          kept.erase(kept.begin());
        }
      }
      for (auto &one : kept)
        drop(one.first);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(counts().records, 0u);
  EXPECT_EQ(counts().lent, 0u);
  EXPECT_LE(counts().mostMemory, options.memory);
}

TEST_P(Stores, LetOneRecordBeGotByMany) {
  open();
  Bytes bytes = contents(1, 5 * mebibyte + 77);
  DrawloomRecord record = put(bytes);
  std::vector<DrawloomRecord> others;
  for (uint64_t i = 0; i < 24; ++i) // It is no longer in memory.
    others.push_back(put(contents(i, mebibyte)));
  finish();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 4; ++i)
        if (thread % 2 == 0) {
          EXPECT_TRUE(get(record, bytes.size()) == bytes);
        } else {
          void *data = nullptr;
          ASSERT_EQ(message(drawloomStoreBorrow(store, record, -1, &data)), "");
          expectSame(data, bytes);
          EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
        }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(Stores, GoOnWithAGetThatRanOutOfTime) {
  options.faults = "op=read;every=2;do=delay 500000";
  open();
  Bytes bytes = contents(1, 7 * mebibyte), found(bytes.size());
  DrawloomRecord record = put(bytes);
  std::vector<DrawloomRecord> others;
  for (uint64_t i = 0; i < 24; ++i)
    others.push_back(put(contents(i, mebibyte)));
  finish();
  int done = 0, calls = 0;
  uint64_t progress = 0;
  // Given up halfway, and begun anew in memory that is another by then.
  for (; progress == 0 && calls < 10000; ++calls)
    ASSERT_EQ(message(drawloomStoreGet(store, record, found.data(), 1'000'000,
                                       &progress, &done)),
              "");
  EXPECT_EQ(done, 0);
  std::fill(found.begin(), found.end(), 0);
  progress = 0;
  for (calls = 0; !done && calls < 10000; ++calls)
    ASSERT_EQ(message(drawloomStoreGet(store, record, found.data(), 1'000'000,
                                       &progress, &done)),
              "");
  EXPECT_GT(calls, 1);
  EXPECT_TRUE(found == bytes);
  void *data = nullptr;
  for (calls = 0; !data && calls < 10000; ++calls)
    ASSERT_EQ(message(drawloomStoreBorrow(store, record, 1'000'000, &data)),
              "");
  EXPECT_GT(calls, 1);
  expectSame(data, bytes);
  EXPECT_EQ(message(drawloomStoreReturn(store, data)), "");
  EXPECT_GT(counts().getStall, 3'000'000u);
}

TEST_P(Stores, GoOnWithAPutThatRanOutOfTime) {
  options.memory = 8 * mebibyte;
  options.faults = "op=write;do=delay 20000";
  open();
  Bytes bytes = contents(1, 12 * mebibyte);
  DrawloomRecord record = {};
  int done = 0, calls = 0;
  for (; done == 0; ++calls)
    ASSERT_EQ(message(drawloomStorePut(store, bytes.data(), bytes.size(), "x",
                                       0, 0, 1'000'000, &record, &done)),
              "");
  EXPECT_GT(calls, 1);
  EXPECT_TRUE(get(record, bytes.size()) == bytes);
  // One that is not gone on with ends with a drop, and leaves nothing.
  DrawloomRecord other = {};
  EXPECT_EQ(message(drawloomStorePut(store, bytes.data(), bytes.size(), "y", 0,
                                     0, 1'000'000, &other, &done)),
            "");
  EXPECT_EQ(done, 0);
  EXPECT_NE(other.generation, 0u);
  drop(other);
  drop(record);
  EXPECT_EQ(counts().records, 0u);
  EXPECT_EQ(counts().puts, 1u);
  finish();
}

TEST_P(Stores, CountNoTimeOfAFinishAsOneOfPuts) {
  options.faults = "op=write;do=delay 20000";
  open();
  put(contents(1, mebibyte));
  finish();
  EXPECT_EQ(counts().putStall, 0u);
}

TEST_P(Stores, CloseAtOnceWhereTheyAreToldTo) {
  options.faults = "do=delay 3000000";
  open();
  for (uint64_t i = 0; i < 4; ++i)
    put(contents(i, mebibyte));
  auto begin = std::chrono::steady_clock::now();
  std::string text = message(drawloomStoreClose(store, 0));
  store = nullptr;
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(500));
  EXPECT_TRUE(text.empty() ||
              text.find("cannot be given back") != std::string::npos)
      << text;
}

TEST_P(Stores, TellWhatIsWrong) {
  open();
  DrawloomRecord record = put(contents(1, 100)), none = {};
  int done = 0;
  EXPECT_EQ(
      message(drawloomStorePut(store, &record, 8, "x", 0, 4, -1, &none, &done),
              DRAWLOOM_ERROR_CALL),
      "a put's flags are 4: there is none but DRAWLOOM_PUT_PERSISTENT, 1");
  EXPECT_EQ(message(drawloomStoreDrop(store, none), DRAWLOOM_ERROR_CALL),
            "there is no record 0 of generation 0 in the store: it was "
            "dropped, or never put");
  Bytes large(1000);
  EXPECT_NE(message(drawloomStorePut(store, large.data(), 100 * mebibyte,
                                     "layer7", 0, 0, -1, &none, &done))
                .find("the record of 'layer7' has 104857600 bytes, for which "
                      "there is no room"),
            std::string::npos);
  EXPECT_EQ(message(drawloomStoreReturn(store, &large), DRAWLOOM_ERROR_CALL),
            "what is returned was not borrowed from this store, or has been "
            "returned before");
  DrawloomStore *other = nullptr;
  auto refused = [&](DrawloomStoreOptions given) {
    std::string text =
        message(drawloomStoreOpen(&given, &other), DRAWLOOM_ERROR_CALL);
    EXPECT_EQ(other, nullptr);
    return text;
  };
  DrawloomStoreOptions given = options;
  given.folderCount = 0;
  EXPECT_EQ(refused(given), "a store needs a folder on the disk that it is to "
                            "use; there is no default");
  given = options;
  given.capacity = 0;
  EXPECT_EQ(refused(given), "a store of 0 bytes in 1 folders cannot be: each "
                            "needs 1 MiB or more");
  given = options;
  given.memory = mebibyte;
  EXPECT_EQ(refused(given), "a store cannot work with 1048576 bytes of memory: "
                            "it needs 8388608");
  EXPECT_EQ(message(drawloomStorePut(store, large.data(), 100, "x", 0, 0, -1,
                                     &record, &done),
                    DRAWLOOM_ERROR_CALL),
            "the record of 'layer', 100 bytes, has been put before: a put "
            "begins with {0, 0}");
  drop(record);
  EXPECT_EQ(message(drawloomStorePut(store, large.data(), 100, "x", 0, 0, -1,
                                     &record, &done),
                    DRAWLOOM_ERROR_CALL),
            "there is no record 0 of generation 1 in the store: it was "
            "dropped, or never put");
  given = options;
  given.device = "floppy";
  EXPECT_EQ(refused(given),
            "'floppy' is no way to offload: there are 'io_uring', 'threads', "
            "'memory' for tests, and '' for the better of the first two here");
  given = options;
  given.faults = "op=seek;do=drop";
  EXPECT_NE(refused(given).find("'op=seek' in the faults 'op=seek;do=drop' is "
                                "none of"),
            std::string::npos);
  given = options;
  given.faults = "op=open;do=errno EACCES";
  EXPECT_NE(
      message(drawloomStoreOpen(&given, &other)).find("Permission denied"),
      std::string::npos);
}

TEST_P(Stores, CloseWithRecordsAndWritesUnderWay) {
  open();
  for (uint64_t i = 0; i < 30; ++i)
    put(contents(i, mebibyte));
  EXPECT_EQ(message(drawloomStoreClose(store, -1)), "");
  store = nullptr;
}

TEST_P(Stores, AreDeadInAChild) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes no threads across a fork";
#endif
  open();
  DrawloomRecord record = put(contents(1, 100));
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10); // A hang is a failure, not a test that never ends.
    Bytes bytes(100);
    int done = 0;
    std::string text = message(
        drawloomStoreGet(store, record, bytes.data(), -1, nullptr, &done),
        DRAWLOOM_ERROR_CALL);
    bool right = text == "the store was opened before this process was forked: "
                         "open another in the process that uses it";
    right &= counts().puts == 0;
    right &= drawloomStoreClose(store, -1) == nullptr;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(get(record, 100) == contents(1, 100));
}

/// Bytes that the process has of the system, and of malloc.
std::pair<int64_t, int64_t> held() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  struct mallinfo2 heap = ::mallinfo2();
  return {resident * ::sysconf(_SC_PAGESIZE),
          static_cast<int64_t>(heap.uordblks + heap.hblkhd)};
}

TEST_P(Stores, DoNotGrowWithTheStepsTheyServe) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an allocator of their own";
#endif
  const char *given = std::getenv("DRAWLOOM_OFFLOAD_STEPS");
  uint64_t steps = given ? std::strtoull(given, nullptr, 10) : 1000;
  options.memory = 8 * mebibyte;
  open();
  Bytes state = contents(1, 70001), small = contents(2, 4000), found(70001);
  DrawloomRecord old = put(state, "state", 0, DRAWLOOM_PUT_PERSISTENT);
  // Of what a training step does: tensors that come back in the reverse order,
  // and a state that a new one replaces. Every fourth is dropped unwritten.
  auto step = [&](uint64_t number) {
    int done = 0;
    DrawloomRecord tensors[3] = {put(small, "a", 3), put(state, "b", 2),
                                 put(small, "c", 1)};
    DrawloomRecord next = put(state, "state", 0, DRAWLOOM_PUT_PERSISTENT);
    ASSERT_EQ(message(drawloomStoreReplace(store, old, next)), "");
    old = next;
    if (number % 4 != 0)
      finish();
    ASSERT_EQ(message(drawloomStoreExpect(store, nullptr, 0)), "");
    void *data = nullptr;
    ASSERT_EQ(message(drawloomStoreBorrow(store, tensors[1], -1, &data)), "");
    ASSERT_EQ(std::memcmp(data, state.data(), state.size()), 0);
    ASSERT_EQ(message(drawloomStoreReturn(store, data)), "");
    ASSERT_EQ(
        message(drawloomStoreGet(store, old, found.data(), -1, nullptr, &done)),
        "");
    ASSERT_TRUE(found == state);
    for (DrawloomRecord tensor : tensors)
      drop(tensor);
    finish();
    DrawloomStoreCounts now = counts();
    ASSERT_EQ(now.records, 1u);
    ASSERT_EQ(now.bytes, state.size());
    ASSERT_EQ(now.lent, 0u);
  };
  // The trace keeps the last events, and grows until it has them.
  for (int i = 0; i < 33000; ++i) {
    DrawloomRecord record = put({'x'});
    get(record, 1);
    drop(record);
  }
  uint64_t first = steps / 10;
  for (uint64_t number = 0; number < first && !HasFatalFailure(); ++number)
    step(number);
  DrawloomStoreCounts before = counts();
  auto [resident, allocated] = held();
  for (uint64_t number = first; number < steps && !HasFatalFailure(); ++number)
    step(number);
  auto [residentNow, allocatedNow] = held();
  std::printf("%llu steps: %lld bytes more are resident, %lld allocated\n",
              static_cast<unsigned long long>(steps - first),
              static_cast<long long>(residentNow - resident),
              static_cast<long long>(allocatedNow - allocated));
  // A word a step, which takes 32 bytes, would be more.
  EXPECT_LE(allocatedNow - allocated, 25000);
  EXPECT_LE(residentNow - resident, int64_t(2 * mebibyte));
  EXPECT_EQ(counts().memory, before.memory);
  EXPECT_EQ(counts().mostMemory, before.mostMemory);
  EXPECT_EQ(counts().failures, 0u);
  EXPECT_GT(counts().verified, (steps - 1) * state.size());
}

void keep(void *context, const char *text) {
  *static_cast<std::string *>(context) = text;
}

TEST_P(Stores, SayWhatTheyUseAndWhatHappened) {
  std::string text;
  ASSERT_EQ(message(drawloomStoreProbe(&options, keep, &text)), "");
  EXPECT_EQ(text.find("device: "), 0u) << text;
  EXPECT_NE(text.find("folder '" + folder + "': 64 MiB on "), std::string::npos)
      << text;
  open();
  DrawloomRecord record = put(contents(1, 2 * mebibyte), "a \"site\"");
  finish();
  get(record, 2 * mebibyte);
  ASSERT_EQ(message(drawloomStoreTrace(store, keep, &text)), "");
  for (const char *event :
       {"\"put\"", "\"get\"", "\"write\"", "a \\\"site\\\""})
    EXPECT_NE(text.find(event), std::string::npos) << event;
}

} // namespace
