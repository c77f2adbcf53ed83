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

void ThreadPool::runRange(const Job &job, int64_t range) {
  // The first `longer` ranges have one block more. No product of two counts
  // here, which might overflow.
  int64_t size = job.blocks / job.ranges, longer = job.blocks % job.ranges;
  int64_t lo = range * size + std::min(range, longer);
  int64_t hi = lo + size + (range < longer ? 1 : 0);
  char *scratch =
      job.scratch ? job.scratch + range * job.scratchBytes : nullptr;
  job.kernel(job.arguments, lo, hi, scratch);
}

void *ThreadPool::work(void *self) {
  ThreadPool &pool = *static_cast<ThreadPool *>(self);
  std::unique_lock<std::mutex> lock(pool.mutex);
  while (true) {
    pool.wake.wait(lock, [&] { return pool.stop || !pool.jobs.empty(); });
    if (pool.stop)
      return nullptr;
    Job &job = *pool.jobs.front();
    int64_t range = job.next++;
    if (job.next == job.ranges)
      pool.jobs.erase(pool.jobs.begin());
    lock.unlock();
    runRange(job, range);
    lock.lock();
    // The caller may return as soon as the lock is free again, and the job
    // with it.
    if (++job.done == job.ranges)
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
  job.ranges = std::min<int64_t>(blocks, std::max(threads, 1u));
  job.scratch = static_cast<char *>(scratch);
  job.scratchBytes = scratchBytes;
  if (job.ranges == 1)
    return runRange(job, 0);
  if (callersTeam.run)
    return callersTeam.run(
        callersTeam.context, static_cast<unsigned>(job.ranges),
        [](void *data, unsigned range) {
          runRange(*static_cast<Job *>(data), range);
        },
        &job);

  std::unique_lock<std::mutex> lock(mutex);
  makeWorkers(
      static_cast<unsigned>(std::min<int64_t>(job.ranges - 1, mostWorkers)));
  jobs.push_back(&job);
  int64_t helpers = std::min<int64_t>(job.ranges - 1, handles.size());
  for (int64_t i = 0; i < helpers; ++i)
    wake.notify_one();
  while (job.next < job.ranges) {
    int64_t range = job.next++;
    if (job.next == job.ranges)
      jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
    lock.unlock();
    runRange(job, range);
    lock.lock();
    ++job.done;
  }
  finished.wait(lock, [&] { return job.done == job.ranges; });
}

static void hostParallelFor(void *context, DrawloomKernel kernel,
                            void **arguments, int64_t blocks) {
  auto &host = *static_cast<PoolHost *>(context);
  host.pool->parallelFor(kernel, arguments, blocks, host.threads, host.scratch,
                         host.scratchBytes);
}

DrawloomHost PoolHost::host() { return {this, hostParallelFor}; }

} // namespace drawloom::runtime
