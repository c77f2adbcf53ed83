//===- Benchmark.cpp - time, work and roofs -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Benchmark.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;

namespace drawloom::run {

Error benchmark(Engine &engine, StringRef entry, ArrayRef<Value> arguments,
                const Work &work, double compileSeconds,
                const Options &options) {
  using Clock = std::chrono::steady_clock;
  if (Error error = engine.run(arguments))
    return error;
  std::vector<double> seconds;
  for (unsigned i = 0; i < options.benchmarkRuns; ++i) {
    Clock::time_point start = Clock::now();
    if (Error error = engine.run(arguments))
      return error;
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  llvm::sort(seconds);
  size_t half = seconds.size() / 2;
  double median = seconds.size() % 2 ? seconds[half]
                                     : (seconds[half - 1] + seconds[half]) / 2;
  std::optional<report::Roofs> known =
      report::measureRoofs(options.threads, engine.isa());
  if (!known)
    return createStringError("the roofs are not measured: this machine has no "
                             "192 MiB of memory to spare");
  const report::Roofs &roofs = *known;

  raw_ostream &out = outs();
  out << "@" << entry << ": " << seconds.size() << " runs on "
      << options.threads << (options.threads == 1 ? " thread\n" : " threads\n")
      << format("  compiled in %.3f s\n", compileSeconds)
      << format("  median %.4f ms, least %.4f ms\n", median * 1e3,
                seconds.front() * 1e3);
  if (work.operations)
    out << format("  %.2f GFLOP/s, %.0f %% of the %.1f that multiply-adds "
                  "reach here\n",
                  *work.operations / median / 1e9,
                  *work.operations / median / roofs.operationsPerSecond * 100,
                  roofs.operationsPerSecond / 1e9);
  out << format("  %.2f GB/s of arguments and results, %.0f %% of the %.1f "
                "that a triad reaches here\n",
                work.bytes / median / 1e9,
                work.bytes / median / roofs.bytesPerSecond * 100,
                roofs.bytesPerSecond / 1e9);
  out << "benchmark: entry=" << entry << " runs=" << seconds.size()
      << " threads=" << options.threads
      << format(" compile_s=%.4f median_ms=%.5f min_ms=%.5f", compileSeconds,
                median * 1e3, seconds.front() * 1e3);
  if (work.operations)
    out << format(" gflops=%.4f", *work.operations / median / 1e9);
  out << format(" gflops_roof=%.2f gbs=%.4f gbs_roof=%.2f\n",
                roofs.operationsPerSecond / 1e9, work.bytes / median / 1e9,
                roofs.bytesPerSecond / 1e9);
  return Error::success();
}

} // namespace drawloom::run
