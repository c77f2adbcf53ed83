//===- Roofs.cpp - what this machine reaches ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/ThreadPool.h"
#include "lib/Report/Report.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <immintrin.h>
#include <vector>

namespace drawloom::report {

using Clock = std::chrono::steady_clock;

// Two multiply-adds start each cycle and each takes four to five: ten chains
// that do not wait for each other keep the units busy. As single variables,
// since arrays would not be kept in registers at every level of optimisation.
#define DRAWLOOM_TEN_CHAINS(STEP)                                              \
  STEP(c0)                                                                     \
  STEP(c1)                                                                     \
  STEP(c2) STEP(c3) STEP(c4) STEP(c5) STEP(c6) STEP(c7) STEP(c8) STEP(c9)

/// Each runs `steps` times ten multiply-adds of its width and returns a number
/// that depends on all of them.
static float chainsOf4(int64_t steps) {
  __m128 a = _mm_set1_ps(0.999f), b = _mm_set1_ps(0.001f);
#define DECLARE(c) __m128 c = b;
  DRAWLOOM_TEN_CHAINS(DECLARE)
#undef DECLARE
  for (int64_t i = 0; i < steps; ++i) {
#define STEP(c) c = _mm_add_ps(_mm_mul_ps(c, a), b);
    DRAWLOOM_TEN_CHAINS(STEP)
#undef STEP
  }
  __m128 sum = b;
#define SUM(c) sum = _mm_add_ps(sum, c);
  DRAWLOOM_TEN_CHAINS(SUM)
#undef SUM
  return _mm_cvtss_f32(sum);
}

__attribute__((target("avx2,fma"))) static float chainsOf8(int64_t steps) {
  __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
#define DECLARE(c) __m256 c = b;
  DRAWLOOM_TEN_CHAINS(DECLARE)
#undef DECLARE
  for (int64_t i = 0; i < steps; ++i) {
#define STEP(c) c = _mm256_fmadd_ps(c, a, b);
    DRAWLOOM_TEN_CHAINS(STEP)
#undef STEP
  }
  __m256 sum = b;
#define SUM(c) sum = _mm256_add_ps(sum, c);
  DRAWLOOM_TEN_CHAINS(SUM)
#undef SUM
  return _mm256_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) static float chainsOf16(int64_t steps) {
  __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
#define DECLARE(c) __m512 c = b;
  DRAWLOOM_TEN_CHAINS(DECLARE)
#undef DECLARE
  for (int64_t i = 0; i < steps; ++i) {
#define STEP(c) c = _mm512_fmadd_ps(c, a, b);
    DRAWLOOM_TEN_CHAINS(STEP)
#undef STEP
  }
  __m512 sum = b;
#define SUM(c) sum = _mm512_add_ps(sum, c);
  DRAWLOOM_TEN_CHAINS(SUM)
#undef SUM
  return _mm512_cvtss_f32(sum);
}

/// Seconds until `work(thread)` has returned on each of the threads that run
/// compiled programs.
template <typename Fn> static double timeOn(unsigned threads, Fn work) {
  runtime::PoolHost pool{&runtime::ThreadPool::shared(), threads, nullptr, 0};
  DrawloomHost host = pool.host();
  void *argument = &work;
  Clock::time_point start = Clock::now();
  host.parallelFor(
      host.context,
      [](void **arguments, int64_t lo, int64_t hi, void *) {
        for (int64_t t = lo; t < hi; ++t)
          (*static_cast<Fn *>(*arguments))(static_cast<unsigned>(t));
      },
      &argument, threads);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static double measureOperations(unsigned threads, llvm::StringRef isa) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  float (*chains)(int64_t) = chainsOf4;
  double width = 4;
  if (isa != "baseline" && features.lookup("avx2") && features.lookup("fma")) {
    chains = chainsOf8;
    width = 8;
    if (isa != "avx2" && features.lookup("avx512f")) {
      chains = chainsOf16;
      width = 16;
    }
  }
  constexpr int64_t steps = 600000;
  double best = 0;
  std::vector<float> sinks(threads);
  for (int repeat = 0; repeat < 30; ++repeat) {
    double seconds =
        timeOn(threads, [&](unsigned t) { sinks[t] = chains(steps); });
    best = std::max(best, threads * steps * 10 * width * 2 / seconds);
  }
  return best;
}

__attribute__((noinline)) static void triad(float *a, const float *b,
                                            const float *c, size_t count) {
  __m128 s = _mm_set1_ps(3.0f);
  for (size_t i = 0; i + 4 <= count; i += 4)
    _mm_storeu_ps(a + i, _mm_add_ps(_mm_loadu_ps(b + i),
                                    _mm_mul_ps(s, _mm_loadu_ps(c + i))));
}

/// Nothing where the machine has no memory for it.
static std::optional<double> measureBandwidth(unsigned threads) {
  // 3 x 64 MiB: beyond the last cache of one socket.
  constexpr size_t count = size_t(1) << 24;
  std::optional<runtime::AlignedBuffer> memory =
      runtime::AlignedBuffer::allocate(3 * count * sizeof(float));
  if (!memory)
    return std::nullopt;
  auto *a = static_cast<float *>(memory->data()), *b = a + count,
       *c = b + count;
  std::fill(a, b, 0.0f);
  std::fill(b, c, 1.0f);
  std::fill(c, c + count, 2.0f);
  double best = 0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    double seconds = timeOn(threads, [=](unsigned t) {
      size_t from = count * t / threads, to = count * (t + 1) / threads;
      triad(a + from, b + from, c + from, to - from);
    });
    best = std::max(best, 3.0 * count * sizeof(float) / seconds);
  }
  return best;
}

std::optional<Roofs> measureRoofs(unsigned threads, llvm::StringRef isa) {
  threads = std::max(threads, 1u);
  std::optional<double> bytes = measureBandwidth(threads);
  if (!bytes)
    return std::nullopt;
  return Roofs{measureOperations(threads, isa), *bytes};
}

} // namespace drawloom::report
