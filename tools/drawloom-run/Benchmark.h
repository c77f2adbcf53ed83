//===- Benchmark.h - time, work and roofs -----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H

#include "tools/drawloom-run/Engine.h"
#include "tools/drawloom-run/Work.h"

namespace drawloom::run {

/// What one run of a function computes at least.
struct Roofs {
  /// Single-precision fused multiply-adds from registers, two operations each.
  double operationsPerSecond;
  /// a = b + s * c over arrays far larger than the caches.
  double bytesPerSecond;
};
Roofs measureRoofs(unsigned threads, llvm::StringRef isa);

/// Runs `options.benchmarkRuns` times after one warm-up and prints the figures,
/// for people and on a last line for programs.
llvm::Error benchmark(Engine &engine, llvm::StringRef entry,
                      llvm::ArrayRef<Value> arguments, const Work &work,
                      double compileSeconds, const Options &options);

/// Runs under the profiler and prints, for each kernel, its time beside what
/// the machine could do; then the time of each phase of compiling.
llvm::Error report(Engine &engine, llvm::StringRef entry,
                   llvm::ArrayRef<Value> arguments, const CompileTimes &times,
                   const Options &options);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H
