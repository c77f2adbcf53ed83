//===- OpenMp.cpp - the threads that torch's own ops run on ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenMp.h"
#include "drawloom-c/runtime.h"
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>

namespace drawloom::python {

/// What GCC calls for `#pragma omp parallel`; LLVM's and Intel's runtimes have
/// it, too. Runs function(data) on each thread of a team of at most `threads`.
using Parallel = void (*)(void (*function)(void *), void *data,
                          unsigned threads, unsigned flags);

static std::atomic<Parallel> parallel{nullptr};

bool findOpenMp() {
  static const bool found = [] {
    parallel = reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
    pthread_atfork(nullptr, nullptr, [] { parallel = nullptr; });
    return parallel != nullptr;
  }();
  return found;
}

namespace {
struct Shares {
  void (*work)(void *data, unsigned index);
  void *data;
  unsigned count;
  std::atomic<unsigned> next{0};
};
} // namespace

/// A team may be smaller than asked for, as inside of another one: each thread
/// goes on while there is something left.
static void takeShares(void *data) {
  auto &shares = *static_cast<Shares *>(data);
  for (unsigned i; (i = shares.next++) < shares.count;)
    shares.work(shares.data, i);
}

static void runOnTeam(void *, unsigned count,
                      void (*work)(void *data, unsigned index), void *data) {
  Shares shares{work, data, count};
  parallel.load()(takeShares, &shares, count, 0);
}

OpenMpThreads::OpenMpThreads() {
  static const DrawloomThreads threads = {nullptr, runOnTeam};
  if (parallel)
    drawloomUseThreads(&threads);
}

OpenMpThreads::~OpenMpThreads() { drawloomUseThreads(nullptr); }

void onOpenMpThreads(unsigned threads, const std::function<void()> &work) {
  Parallel run = parallel;
  if (!run || threads < 2)
    return work();
  run([](void *data) { (*static_cast<const std::function<void()> *>(data))(); },
      const_cast<std::function<void()> *>(&work), threads, 0);
}

} // namespace drawloom::python
