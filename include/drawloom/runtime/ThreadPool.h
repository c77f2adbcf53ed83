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

/// The caller's own threads: `run` calls work(data, i) once for each i in [0,
/// count), on any threads, and returns when all calls have returned.
struct Team {
  void *context = nullptr;
  void (*run)(void *context, unsigned count,
              void (*work)(void *data, unsigned index), void *data) = nullptr;
};

/// Makes this thread's subsequent program calls run on `team` instead of a
/// pool's threads; an empty team restores the pool.
void useTeam(const Team &team);

/// Threads that share out the blocks of kernels. Any number of callers may use
/// one pool at once; each takes part in its own work, so that a caller makes
/// progress even if every thread of the pool is busy or none could be created.
class ThreadPool {
public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  /// No call may be in progress.
  ~ThreadPool();

  /// Returns the pool that programs of this process use by default.
  static ThreadPool &shared();

  /// Cuts [0, blocks) into contiguous ranges, which at most `threads` threads
  /// take one after another until none is left: a thread that is slow or starts
  /// late takes fewer. Ranges come in rounds of `threads` equal ones, and each
  /// round covers half of the remaining blocks, so that there are few ranges
  /// and the last ones are short. The cut depends on `blocks` and `threads`
  /// only. `scratch`, if not null, holds `scratchBytes` for each of the
  /// `threads`; each has its own part. `threads` of 0 counts as 1, and a single
  /// thread takes all blocks as one range. If the caller has a team, the team
  /// runs the ranges.
  void parallelFor(DrawloomKernel kernel, void **arguments, int64_t blocks,
                   unsigned threads, void *scratch, int64_t scratchBytes);

  /// Returns the number of existing threads, not counting callers.
  unsigned workers();

private:
  /// A job for at most `shares` threads, each of which takes ranges until none
  /// is left.
  struct Job {
    DrawloomKernel kernel;
    void **arguments;
    int64_t blocks;
    int64_t shares;
    char *scratch;
    int64_t scratchBytes;
    std::atomic<int64_t> ranges{0}; ///< Ranges already taken.
    int64_t next = 0;               ///< First share not yet taken.
    int64_t done = 0;
  };

  static void runShare(Job &job, int64_t share);
  static void *work(void *pool);
  void makeWorkers(unsigned count);

  std::mutex mutex;
  /// For workers: a job arrived, or the pool ends.
  std::condition_variable wake;
  std::condition_variable finished; ///< For callers: all shares are done.
  std::vector<Job *> jobs;          ///< Jobs with shares still to be taken.
  std::vector<pthread_t> handles;
  bool stop = false;
};

/// The host interface of a program whose blocks run on up to `threads` threads
/// of `pool`. The pool, the scratch memory and this struct must outlive the
/// call of the entry.
struct PoolHost {
  ThreadPool *pool;
  unsigned threads;
  void *scratch;
  int64_t scratchBytes;

  DrawloomHost host();
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_THREADPOOL_H
