//===- Benchmark.h - time, work and roofs -----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H

#include "lib/Report/Report.h"
#include "tools/drawloom-run/Engine.h"

namespace drawloom::run {

struct Work {
  /// As report::countOperations counts them.
  std::optional<double> operations;
  /// Bytes of the arguments and results.
  double bytes = 0;
};

/// Runs `options.benchmarkRuns` times after one warm-up and prints the figures,
/// for people and on a last line for programs.
llvm::Error benchmark(Engine &engine, llvm::StringRef entry,
                      llvm::ArrayRef<Value> arguments, const Work &work,
                      double compileSeconds, const Options &options);

/// Runs under the profiler, and prints the report or writes it to the file of
/// --report.
llvm::Error writeReport(Engine &engine, const Signature &signature,
                        llvm::ArrayRef<Value> arguments,
                        const report::Recorder &recorder,
                        const Options &options);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H
