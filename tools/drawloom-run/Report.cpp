//===- Report.cpp - where the time goes, and why --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Benchmark.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;

namespace drawloom::run {

/// A number in the column of that width, or a dash where there is none.
static void column(raw_ostream &out, std::optional<double> value,
                   const char *form, unsigned width) {
  std::string text = "-";
  if (value) {
    text.clear();
    raw_string_ostream(text) << format(form, *value);
  }
  out << "  " << right_justify(text, width);
}

Error report(Engine &engine, StringRef entry, ArrayRef<Value> arguments,
             const CompileTimes &times, const Options &options) {
  using Clock = std::chrono::steady_clock;
  if (Error error = engine.run(arguments))
    return error;
  unsigned runs = options.benchmarkRuns ? options.benchmarkRuns : 20;
  KernelProfile profile;
  Clock::time_point start = Clock::now();
  for (unsigned i = 0; i < runs; ++i)
    if (Error error = engine.run(arguments, &profile))
      return error;
  double call =
      std::chrono::duration<double>(Clock::now() - start).count() / runs;
  Roofs roofs = measureRoofs(options.threads, engine.isa());

  double inKernels = 0;
  size_t nameWidth = 6, placeWidth = 4;
  for (const KernelProfile::Kernel &kernel : profile.kernels) {
    inKernels += kernel.seconds / runs;
    nameWidth = std::max(nameWidth, kernel.name.size());
  }
  for (const KernelWork &work : times.kernels)
    placeWidth = std::max(placeWidth, work.place.size());

  raw_ostream &out = outs();
  out << format("@%s: %.4f ms a call, the mean of %u on %u thread%s; %.4f ms "
                "outside its kernels\n",
                entry.str().c_str(), call * 1e3, runs, options.threads,
                options.threads == 1 ? "" : "s", (call - inKernels) * 1e3)
      << format(
             "roofs: %.1f GFLOP/s of multiply-adds, %.1f GB/s of a triad\n\n",
             roofs.operationsPerSecond / 1e9, roofs.bytesPerSecond / 1e9)
      << "  " << left_justify("kernel", nameWidth) << "  "
      << left_justify("from", placeWidth)
      << "   blocks        ms  share     MFLOP   GFLOP/s  of roof      MB    "
         "GB/s  of roof\n";
  for (const KernelProfile::Kernel &kernel : profile.kernels) {
    double seconds = kernel.seconds / runs;
    double blocks = static_cast<double>(kernel.blocks) / runs;
    auto work = find_if(times.kernels, [&](const KernelWork &w) {
      return w.name == kernel.name;
    });
    bool known = work != times.kernels.end();
    std::optional<double> operations, bytes;
    if (known && work->operationsPerBlock)
      operations = *work->operationsPerBlock * blocks;
    if (known)
      bytes = work->bytes * static_cast<double>(kernel.calls) / runs;
    auto per = [](std::optional<double> value, double unit) {
      return value ? std::optional(*value / unit) : std::nullopt;
    };
    out << "  " << left_justify(kernel.name, nameWidth) << "  "
        << left_justify(known ? work->place : "", placeWidth);
    column(out, blocks, "%.0f", 7);
    column(out, seconds * 1e3, "%.4f", 8);
    column(out, seconds / call * 100, "%.0f %%", 5);
    column(out, per(operations, 1e6), "%.3f", 8);
    column(out, per(operations, seconds * 1e9), "%.2f", 8);
    column(out, per(operations, seconds * roofs.operationsPerSecond / 100),
           "%.0f %%", 7);
    column(out, per(bytes, 1e6), "%.2f", 6);
    column(out, per(bytes, seconds * 1e9), "%.2f", 6);
    column(out, per(bytes, seconds * roofs.bytesPerSecond / 100), "%.0f %%", 7);
    out << '\n';
  }
  double total = 0;
  for (const auto &[name, seconds] : times.phases)
    total += seconds;
  out << format("\ncompiled in %.0f ms\n", total * 1e3);
  for (const auto &[name, seconds] : times.phases)
    out << "  " << left_justify(name, 16)
        << format("%7.1f ms\n", seconds * 1e3);
  return Error::success();
}

} // namespace drawloom::run
