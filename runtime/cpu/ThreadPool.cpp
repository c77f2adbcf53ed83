//===- ThreadPool.cpp - a fixed number of threads over blocks -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/ThreadPool.h"
#include <algorithm>
#include <atomic>
#include <utility>

namespace drawloom::runtime {

// More would cost more to wake than any machine gains by them.
static constexpr unsigned mostWorkers = 1023;

static std::atomic<ThreadPool *> sharedPool{nullptr};

static thread_local Team callersTeam;

void useTeam(const Team &team) { callersTeam = team; }

ThreadPool &ThreadPool::shared() {
  // Never destroyed: a program may still run while the process exits.
  static const bool made = [] {
    sharedPool = new ThreadPool;
    // A child of fork has none of the threads, and what they waited on counts
    // them still: it starts anew, and leaves the old pool as it is.
    pthread_atfork(nullptr, nullptr, [] { sharedPool = new ThreadPool; });
    return true;
  }();
  (void)made;
  return *sharedPool;
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  wake.notify_all();
  for (pthread_t handle : handles)
    pthread_join(handle, nullptr);
}

unsigned ThreadPool::workers() {
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<unsigned>(handles.size());
}

/// Range `index` of [0, blocks) as a begin and a size; a size of 0 behind the
/// last one. Nothing here overflows for any number of blocks.
static std::pair<int64_t, int64_t> rangeOf(int64_t index, int64_t blocks,
                                           int64_t shares) {
  for (int64_t lo = 0, left = blocks; left > 0; index -= shares) {
    int64_t size = left / (2 * shares) + (left % (2 * shares) != 0 ? 1 : 0);
    if (index < shares) {
      // The last round may have fewer ranges than shares.
      int64_t before = std::min(index * size, left);
      return {lo + before, std::min(size, left - before)};
    }
    int64_t round = std::min(shares * size, left);
    lo += round;
    left -= round;
  }
  return {blocks, 0};
}

void ThreadPool::runShare(Job &job, int64_t share) {
  char *scratch =
      job.scratch ? job.scratch + share * job.scratchBytes : nullptr;
  if (job.shares == 1)
    return job.kernel(job.arguments, 0, job.blocks, scratch);
  while (true) {
    auto [lo, size] = rangeOf(job.ranges++, job.blocks, job.shares);
    if (size == 0)
      return;
    job.kernel(job.arguments, lo, lo + size, scratch);
  }
}

void *ThreadPool::work(void *self) {
  ThreadPool &pool = *static_cast<ThreadPool *>(self);
  std::unique_lock<std::mutex> lock(pool.mutex);
  while (true) {
    pool.wake.wait(lock, [&] { return pool.stop || !pool.jobs.empty(); });
    if (pool.stop)
      return nullptr;
    Job &job = *pool.jobs.front();
    int64_t share = job.next++;
    if (job.next == job.shares)
      pool.jobs.erase(pool.jobs.begin());
    lock.unlock();
    runShare(job, share);
    lock.lock();
    // The caller may return as soon as the lock is free again, and the job
    // with it.
    if (++job.done == job.shares)
      pool.finished.notify_all();
  }
}

/// Makes workers until there are `count`. With fewer, the callers do more.
void ThreadPool::makeWorkers(unsigned count) {
  count = std::min(count, mostWorkers);
  while (handles.size() < count) {
    pthread_t handle;
    if (pthread_create(&handle, nullptr, work, this) != 0)
      return;
    handles.push_back(handle);
  }
}

void ThreadPool::parallelFor(DrawloomKernel kernel, void **arguments,
                             int64_t blocks, unsigned threads, void *scratch,
                             int64_t scratchBytes) {
  if (blocks <= 0)
    return;
  Job job;
  job.kernel = kernel;
  job.arguments = arguments;
  job.blocks = blocks;
  job.shares = std::min<int64_t>(blocks, std::max(threads, 1u));
  job.scratch = static_cast<char *>(scratch);
  job.scratchBytes = scratchBytes;
  if (job.shares == 1)
    return runShare(job, 0);
  if (callersTeam.run)
    return callersTeam.run(
        callersTeam.context, static_cast<unsigned>(job.shares),
        [](void *data, unsigned share) {
          runShare(*static_cast<Job *>(data), share);
        },
        &job);

  std::unique_lock<std::mutex> lock(mutex);
  makeWorkers(
      static_cast<unsigned>(std::min<int64_t>(job.shares - 1, mostWorkers)));
  jobs.push_back(&job);
  int64_t helpers = std::min<int64_t>(job.shares - 1, handles.size());
  for (int64_t i = 0; i < helpers; ++i)
    wake.notify_one();
  while (job.next < job.shares) {
    int64_t share = job.next++;
    if (job.next == job.shares)
      jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
    lock.unlock();
    runShare(job, share);
    lock.lock();
    ++job.done;
  }
  finished.wait(lock, [&] { return job.done == job.shares; });
}

static void hostParallelFor(void *context, DrawloomKernel kernel,
                            void **arguments, int64_t blocks) {
  auto &host = *static_cast<PoolHost *>(context);
  host.pool->parallelFor(kernel, arguments, blocks, host.threads, host.scratch,
                         host.scratchBytes);
}

DrawloomHost PoolHost::host() { return {this, hostParallelFor, nullptr}; }

} // namespace drawloom::runtime
