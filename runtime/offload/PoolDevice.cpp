//===- PoolDevice.cpp - threads that read and write -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each folder has a queue and threads of its own, so that a disk that hangs
// holds up no other. A thread shares ownership of what it uses: one that hangs
// outlives the device.
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Devices.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace drawloom::runtime::offload {

namespace {

constexpr size_t threadsOfFolder = 4;
constexpr size_t threadsOfAll = 16;

/// A folder's file, what waits for it, and who works on that.
struct Queue {
  explicit Queue(File file) : file(std::move(file)) {}
  File file;
  std::deque<Transfer> waiting;
  std::condition_variable work;
};

/// What the device shares with its threads.
struct Pool {
  std::mutex mutex;
  std::vector<std::shared_ptr<Queue>> queues;
  /// Has room for all that were submitted: threads need no memory.
  std::vector<Completion> back;
  std::condition_variable news;
  bool woken = false;
  bool closing = false;
  size_t running = 0, busy = 0; ///< Threads, and those with a transfer.
};

/// A thread's work, until the device is destroyed.
void work(const std::shared_ptr<Pool> &pool,
          const std::shared_ptr<Queue> &queue) {
  std::unique_lock<std::mutex> lock(pool->mutex);
  for (;;) {
    queue->work.wait(lock,
                     [&] { return pool->closing || !queue->waiting.empty(); });
    if (pool->closing)
      break;
    Transfer transfer = queue->waiting.front();
    queue->waiting.pop_front();
    ++pool->busy;
    lock.unlock();
    int64_t result = transferNow(queue->file.descriptor(),
                                 queue->file.facts().direct, transfer);
    lock.lock();
    --pool->busy;
    pool->back.push_back({transfer.id, result});
    pool->news.notify_all();
  }
  --pool->running;
  pool->news.notify_all();
}

/// While it lives, threads that are made get no signals: these are for the
/// program's own.
class WithoutSignals {
public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

class PoolDevice : public Device {
public:
  explicit PoolDevice(Ways ways) : ways(ways) {}
  ~PoolDevice() override;

  const char *name() const override { return "threads"; }
  Result<FileFacts> open(const std::string &folder, uint64_t bytes) override;
  void registerMemory(void *memory, uint64_t bytes) override {}
  void submit(const Transfer *transfers, size_t count) override;
  void cancel(uint64_t id) override;
  size_t reap(Completion *completions, size_t most, uint64_t until) override;
  void wake() override;
  uint64_t now() const override { return nanoseconds(); }
  size_t underWay() const override { return submitted; }

private:
  const Ways ways;
  const std::shared_ptr<Pool> pool = std::make_shared<Pool>();
  std::vector<std::thread> threads;
  size_t submitted = 0;
  const pid_t process = ::getpid();
};

PoolDevice::~PoolDevice() {
  // A child has no threads of its parent's, and locks as these left them.
  bool over = false;
  if (process == ::getpid()) {
    std::unique_lock<std::mutex> lock(pool->mutex);
    pool->closing = true;
    for (const std::shared_ptr<Queue> &queue : pool->queues)
      queue->work.notify_all();
    pool->news.wait(lock, [&] { return pool->running == pool->busy; });
    over = pool->running == 0;
  } else {
    new std::shared_ptr<Pool>(pool);
    new std::vector<std::thread>(std::move(threads));
    threads.clear();
  }
  for (std::thread &thread : threads)
    if (over)
      thread.join();
    else
      thread.detach();
}

Result<FileFacts> PoolDevice::open(const std::string &folder, uint64_t bytes) {
  Result<File> file = File::open(folder, bytes, ways);
  if (!file.ok())
    return file.status();
  auto queue = std::make_shared<Queue>(std::move(*file));
  FileFacts facts = queue->file.facts();
  std::lock_guard<std::mutex> lock(pool->mutex);
  WithoutSignals without;
  // Each has one at least, however many there are.
  size_t left = threadsOfAll - std::min(threadsOfAll, threads.size());
  size_t many = std::clamp<size_t>(left, 1, threadsOfFolder);
  try {
    for (size_t i = 0; i < many; ++i) {
      threads.emplace_back(work, pool, queue);
      ++pool->running;
    }
  } catch (const std::system_error &error) {
    // Fewer do as well.
    if (queue.use_count() == 1)
      return Status::error("no thread can be made to write to '" + folder +
                           "' (" + error.what() +
                           "); end some, or raise the limit (ulimit -u)");
  }
  pool->queues.push_back(std::move(queue));
  return facts;
}

void PoolDevice::submit(const Transfer *transfers, size_t count) {
  std::lock_guard<std::mutex> lock(pool->mutex);
  submitted += count;
  pool->back.reserve(submitted);
  for (size_t i = 0; i < count; ++i) {
    if (transfers[i].file >= pool->queues.size()) {
      pool->back.push_back({transfers[i].id, -EBADF});
      continue;
    }
    Queue &queue = *pool->queues[transfers[i].file];
    queue.waiting.push_back(transfers[i]);
    queue.work.notify_one();
  }
}

void PoolDevice::cancel(uint64_t id) {
  std::lock_guard<std::mutex> lock(pool->mutex);
  for (const std::shared_ptr<Queue> &queue : pool->queues) {
    std::deque<Transfer> &waiting = queue->waiting;
    auto found = std::find_if(waiting.begin(), waiting.end(),
                              [&](const Transfer &t) { return t.id == id; });
    if (found == waiting.end())
      continue;
    waiting.erase(found);
    pool->back.push_back({id, -ECANCELED});
    return;
  }
}

size_t PoolDevice::reap(Completion *completions, size_t most, uint64_t until) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock<std::mutex> lock(pool->mutex);
  auto ready = [&] { return pool->woken || !pool->back.empty(); };
  if (until > INT64_MAX)
    pool->news.wait(lock, ready);
  else
    pool->news.wait_until(
        lock, Clock::time_point(std::chrono::nanoseconds(until)), ready);
  pool->woken = false;
  size_t count = std::min(most, pool->back.size());
  std::copy_n(pool->back.begin(), count, completions);
  pool->back.erase(pool->back.begin(),
                   pool->back.begin() + static_cast<ptrdiff_t>(count));
  submitted -= count;
  return count;
}

void PoolDevice::wake() {
  std::lock_guard<std::mutex> lock(pool->mutex);
  pool->woken = true;
  pool->news.notify_all();
}

} // namespace

std::unique_ptr<Device> makePoolDevice(Ways ways) {
  return std::make_unique<PoolDevice>(ways);
}

} // namespace drawloom::runtime::offload
