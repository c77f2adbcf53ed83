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

namespace drawloom::run {

/// What one run of a function computes at least.
struct Work {
  /// Floating-point operations of its linalg, arith and math ops: an add, a
  /// multiplication, a division, a call of a function such as exp are one each.
  /// Nothing where an extent or a trip count is not known.
  std::optional<double> operations;
  /// Bytes of the arguments and results.
  double bytes = 0;
};

/// Counts the operations of a module's public functions in the structured
/// phase.
std::optional<double> countOperations(mlir::ModuleOp module);

/// What this machine reaches with as many threads, measured now.
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

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_BENCHMARK_H
