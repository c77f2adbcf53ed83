//===- ThreadPool.h - a fixed number of threads over blocks -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_THREADPOOL_H
#define DRAWLOOM_RUNTIME_THREADPOOL_H

#include "drawloom/runtime/Abi.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace drawloom::runtime {

/// Threads that are somebody else's: `run` calls work(data, i) once for each i
/// in [0, count), on any threads, and returns when all calls have.
struct Team {
  void *context = nullptr;
  void (*run)(void *context, unsigned count,
              void (*work)(void *data, unsigned index), void *data) = nullptr;
};

/// What this thread's calls of programs run on from now on, in place of a
/// pool's threads; an empty team for those again.
void useTeam(const Team &team);

/// Threads that share out the blocks of kernels. Any number of callers may use
/// one pool at once; each takes part in its own work, so that a caller makes
/// progress even where every thread of the pool is busy or none could be made.
class ThreadPool {
public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  /// No call may be in progress.
  ~ThreadPool();

  /// The pool that programs of this process use unless told otherwise.
  static ThreadPool &shared();

  /// Cuts [0, blocks) into contiguous ranges, which at most `threads` threads
  /// take, one after the other, until none is left: a thread that is slower
  /// than the others, or comes late, takes fewer. Ranges come in rounds of
  /// `threads` equal ones, and each round is half of what is left, so that
  /// there are few of them and the last ones are short. The cut depends on the
  /// two numbers only. `scratch`, if not null, holds `scratchBytes` for each of
  /// the `threads`; each has its own part. `threads` of 0 counts as 1, and one
  /// thread takes all blocks as one range. Where the caller has a team, that
  /// runs them.
  void parallelFor(DrawloomKernel kernel, void **arguments, int64_t blocks,
                   unsigned threads, void *scratch, int64_t scratchBytes);

  /// Threads that exist, besides the callers.
  unsigned workers();

private:
  /// What each of at most `shares` threads does once: it takes ranges until
  /// none is left.
  struct Job {
    DrawloomKernel kernel;
    void **arguments;
    int64_t blocks;
    int64_t shares;
    char *scratch;
    int64_t scratchBytes;
    std::atomic<int64_t> ranges{0}; ///< Those that somebody has taken.
    int64_t next = 0;               ///< The first share nobody has taken.
    int64_t done = 0;
  };

  static void runShare(Job &job, int64_t share);
  static void *work(void *pool);
  void makeWorkers(unsigned count);

  std::mutex mutex;
  std::condition_variable wake; ///< For workers: there is a job, or the end.
  std::condition_variable finished; ///< For callers: all shares are done.
  std::vector<Job *> jobs;          ///< Those with shares to take.
  std::vector<pthread_t> handles;
  bool stop = false;
};

/// What a program is given to run its blocks on up to `threads` threads of
/// `pool`. The three must outlive the call of the entry.
struct PoolHost {
  ThreadPool *pool;
  unsigned threads;
  void *scratch;
  int64_t scratchBytes;

  DrawloomHost host();
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_THREADPOOL_H
