//===- ThreadPoolTest.cpp - a fixed number of threads over blocks ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace drawloom::runtime;

namespace {

struct Range {
  int64_t lo, hi;
  void *scratch;
  bool operator<(const Range &other) const { return lo < other.lo; }
};

/// What the kernels below are called with.
struct Log {
  std::mutex mutex;
  std::set<Range> ranges;
  std::set<std::thread::id> threads;
};

void record(void **arguments, int64_t lo, int64_t hi, void *scratch) {
  Log &log = *static_cast<Log *>(arguments[0]);
  std::lock_guard<std::mutex> lock(log.mutex);
  log.ranges.insert({lo, hi, scratch});
  log.threads.insert(std::this_thread::get_id());
}

/// Ranges follow each other, none is longer than the one before, and the first
/// is half a thread's part.
void expectCovers(const Log &log, int64_t blocks, int64_t threads) {
  int64_t at = 0, before = std::numeric_limits<int64_t>::max();
  for (const Range &range : log.ranges) {
    EXPECT_EQ(range.lo, at);
    at = range.hi;
    EXPECT_LE(range.hi - range.lo, before);
    before = range.hi - range.lo;
  }
  EXPECT_EQ(at, blocks);
  threads = std::min(threads, blocks);
  int64_t parts = threads == 1 ? 1 : 2 * threads;
  EXPECT_EQ(log.ranges.begin()->hi,
            blocks / parts + (blocks % parts != 0 ? 1 : 0));
  if (threads == 1)
    EXPECT_EQ(log.ranges.size(), 1u);
  else
    EXPECT_EQ(before, 1);
}

TEST(ThreadPool, CutsBlocksIntoContiguousRanges) {
  ThreadPool pool;
  for (int64_t blocks : {1, 2, 3, 7, 64, 1000})
    for (unsigned threads : {1u, 2u, 3u, 8u}) {
      Log log;
      void *arguments[] = {&log};
      pool.parallelFor(record, arguments, blocks, threads, nullptr, 0);
      expectCovers(log, blocks, threads);
    }
}

TEST(ThreadPool, CallsNothingForNoBlocks) {
  ThreadPool pool;
  Log log;
  void *arguments[] = {&log};
  pool.parallelFor(record, arguments, 0, 4, nullptr, 0);
  EXPECT_TRUE(log.ranges.empty());
}

TEST(ThreadPool, CountsNoThreadsAsOne) {
  ThreadPool pool;
  Log log;
  void *arguments[] = {&log};
  pool.parallelFor(record, arguments, 5, 0, nullptr, 0);
  EXPECT_EQ(log.ranges.size(), 1u);
  EXPECT_EQ(pool.workers(), 0u);
}

TEST(ThreadPool, MakesNoMoreWorkersThanAskedFor) {
  ThreadPool pool;
  Log log;
  void *arguments[] = {&log};
  pool.parallelFor(record, arguments, 100, 3, nullptr, 0);
  EXPECT_LE(pool.workers(), 2u);
  EXPECT_LE(log.threads.size(), 3u);
}

TEST(ThreadPool, CountsBlocksBeyond32Bits) {
  ThreadPool pool;
  Log log;
  void *arguments[] = {&log};
  int64_t blocks = std::numeric_limits<int64_t>::max();
  pool.parallelFor(record, arguments, blocks, 3, nullptr, 0);
  expectCovers(log, blocks, 3);
}

TEST(ThreadPool, HasFewRanges) {
  ThreadPool pool;
  Log log;
  void *arguments[] = {&log};
  pool.parallelFor(record, arguments, 1 << 20, 4, nullptr, 0);
  // Each round of 4 is half of what is left.
  EXPECT_LE(log.ranges.size(), 4u * 21);
}

/// The thread that takes the first range is busy until all others are done.
void waitForTheRest(void **arguments, int64_t lo, int64_t hi, void *) {
  auto &done = *static_cast<std::atomic<int64_t> *>(arguments[0]);
  int64_t blocks = *static_cast<int64_t *>(arguments[1]);
  auto &waitedInVain = *static_cast<std::atomic<bool> *>(arguments[2]);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (lo == 0 && done < blocks - hi && !waitedInVain)
    if (std::chrono::steady_clock::now() > end)
      waitedInVain = true;
    else
      std::this_thread::yield();
  done += hi - lo;
}

TEST(ThreadPool, GivesASlowThreadFewerBlocks) {
  ThreadPool pool;
  for (int64_t blocks : {3, 8, 64}) {
    std::atomic<int64_t> done{0};
    std::atomic<bool> waitedInVain{false};
    void *arguments[] = {&done, &blocks, &waitedInVain};
    pool.parallelFor(waitForTheRest, arguments, blocks, 2, nullptr, 0);
    EXPECT_FALSE(waitedInVain) << blocks;
    EXPECT_EQ(done, blocks);
  }
}

/// Counts how many threads are in each part of the scratch memory.
void useScratch(void **arguments, int64_t, int64_t, void *scratch) {
  auto &shared = *static_cast<std::atomic<int> *>(arguments[0]);
  auto &users = *static_cast<std::atomic<int> *>(scratch);
  shared += ++users != 1;
  std::this_thread::yield();
  --users;
}

TEST(ThreadPool, GivesEachThreadItsOwnScratch) {
  ThreadPool pool;
  std::vector<std::atomic<int>> parts(4);
  std::atomic<int> shared{0};
  void *arguments[] = {&shared};
  for (int round = 0; round < 100; ++round)
    pool.parallelFor(useScratch, arguments, 100, 4, parts.data(),
                     sizeof(parts[0]));
  EXPECT_EQ(shared, 0);

  Log log;
  void *memory[] = {&log};
  pool.parallelFor(record, memory, 100, 4, parts.data(), sizeof(parts[0]));
  for (const Range &range : log.ranges) {
    EXPECT_GE(range.scratch, parts.data());
    EXPECT_LT(range.scratch, parts.data() + 4);
  }
}

/// Waits until as many ranges run at once as argument 1 says.
void meet(void **arguments, int64_t, int64_t, void *) {
  auto &arrived = *static_cast<std::atomic<int> *>(arguments[0]);
  int expected = *static_cast<int *>(arguments[1]);
  ++arrived;
  while (arrived < expected)
    std::this_thread::yield();
}

TEST(ThreadPool, RunsRangesAtTheSameTime) {
  ThreadPool pool;
  std::atomic<int> arrived{0};
  int expected = 3;
  void *arguments[] = {&arrived, &expected};
  pool.parallelFor(meet, arguments, 3, 3, nullptr, 0);
  EXPECT_EQ(arrived, 3);
}

void add(void **arguments, int64_t lo, int64_t hi, void *) {
  auto &sum = *static_cast<std::atomic<int64_t> *>(arguments[0]);
  for (int64_t i = lo; i < hi; ++i)
    sum += i;
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool;
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<int64_t> sum{0};
        void *arguments[] = {&sum};
        pool.parallelFor(add, arguments, 100, 3, nullptr, 0);
        wrong += sum != 4950;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

/// Uses the pool from inside a range.
void nest(void **arguments, int64_t, int64_t, void *) {
  auto &pool = *static_cast<ThreadPool *>(arguments[1]);
  pool.parallelFor(add, arguments, 10, 2, nullptr, 0);
}

TEST(ThreadPool, MayBeUsedFromInsideARange) {
  ThreadPool pool;
  std::atomic<int64_t> sum{0};
  void *arguments[] = {&sum, &pool};
  pool.parallelFor(nest, arguments, 3, 3, nullptr, 0);
  EXPECT_EQ(sum, 3 * 45);
}

TEST(ThreadPool, HandsPoolAndScratchToPrograms) {
  ThreadPool pool;
  char scratch[64];
  PoolHost context{&pool, 2, scratch, 32};
  DrawloomHost host = context.host();
  Log log;
  void *arguments[] = {&log};
  host.parallelFor(host.context, record, arguments, 9);
  expectCovers(log, 9, 2);
  for (const Range &range : log.ranges)
    EXPECT_TRUE(range.scratch == scratch || range.scratch == scratch + 32);
}

/// Ends only where two threads work on a job of the shared pool at once.
void meetOnSharedPool() {
  std::atomic<int> arrived{0};
  int expected = 2;
  void *arguments[] = {&arrived, &expected};
  ThreadPool::shared().parallelFor(meet, arguments, 2, 2, nullptr, 0);
}

TEST(ThreadPool, SharedOneHasThreadsInAChildOfFork) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes no new threads after a fork";
#endif
  meetOnSharedPool();
  pid_t child = fork();
  if (child == 0) {
    alarm(10); // A hang is a failure, not a test that never ends.
    meetOnSharedPool();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
