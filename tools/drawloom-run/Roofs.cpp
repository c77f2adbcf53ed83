//===- Roofs.cpp - what this machine reaches ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Benchmark.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <immintrin.h>
#include <thread>

namespace drawloom::run {

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

/// Seconds until `work(thread)` has returned on all threads.
template <typename Fn> static double timeOn(unsigned threads, Fn work) {
  Clock::time_point start = Clock::now();
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back([=] { work(t); });
  work(0);
  for (std::thread &other : others)
    other.join();
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

static double measureBandwidth(unsigned threads) {
  // 3 x 64 MiB: beyond the last cache of one socket.
  constexpr size_t count = size_t(1) << 24;
  std::vector<float> a(count), b(count, 1), c(count, 2);
  double best = 0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    double seconds = timeOn(threads, [&](unsigned t) {
      size_t from = count * t / threads, to = count * (t + 1) / threads;
      triad(a.data() + from, b.data() + from, c.data() + from, to - from);
    });
    best = std::max(best, 3.0 * count * sizeof(float) / seconds);
  }
  return best;
}

Roofs measureRoofs(unsigned threads, llvm::StringRef isa) {
  return {measureOperations(threads, isa), measureBandwidth(threads)};
}

} // namespace drawloom::run
