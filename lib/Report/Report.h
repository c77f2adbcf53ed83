//===- Report.h - where the time goes, and why ---------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A report on one function: it is compiled under a Recorder, then `measure`
// runs it under the profiler. Text, JSON and HTML show the same data.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_REPORT_REPORT_H
#define DRAWLOOM_LIB_REPORT_REPORT_H

#include "lib/Compiler/Compiler.h"
#include "lib/Report/Work.h"
#include <chrono>
#include <mutex>

namespace drawloom::report {

/// The peak rates of a machine, which bound the time of a function from below.
struct Roofs {
  /// Single-precision fused multiply-adds on registers, counted as two
  /// operations each.
  double operationsPerSecond;
  /// a = b + s * c over arrays far larger than the caches.
  double bytesPerSecond;
};
/// Measures this machine, which takes some tenths of a second, on the threads
/// that run compiled programs. Returns nothing if 192 MiB of memory are
/// unavailable.
std::optional<Roofs> measureRoofs(unsigned threads, llvm::StringRef isa);

/// A message of the compiler about a program it compiles.
struct Remark {
  /// "passed", "missed", "failed" or "analysis"; for a diagnostic, "remark" or
  /// "warning".
  std::string kind;
  /// The pass and its remark, such as "fuse-rows" and "Fused"; empty for a
  /// diagnostic.
  std::string category, name;
  /// "name.mlir:3", or "".
  std::string place;
  std::string message;
  /// Figures attached to the remark.
  std::vector<std::pair<std::string, std::string>> values;
  /// Number of times that the remark was made at the same place.
  unsigned count = 1;
};

/// A phase of the compiler, and the seconds that it took.
struct PhaseTime {
  std::string name;
  double seconds;
};

/// Records a compilation. Belongs to one thread; must outlive the contexts
/// whose remarks it collects, and the options that it follows.
class Recorder {
public:
  /// Collects the context's remarks whose category matches `filter`; if the
  /// filter is empty, all except analyses. `print` also emits them as
  /// diagnostics. Returns false if MLIR refuses.
  bool collectRemarks(mlir::MLIRContext &context, llvm::StringRef filter = "",
                      bool print = false);
  /// Adds a remark, or increments its count if it was made before. May be
  /// called from any thread.
  void add(Remark remark);
  /// Records times and counts the kernels' work; existing callbacks of the
  /// options are called first.
  void follow(CompileOptions &options);
  /// To be called when code is compiled and loaded.
  void finish();
  /// Discards everything, for the next program.
  void clear();

  const std::vector<PhaseTime> &phases() const { return times; }
  const std::vector<KernelWork> &kernels() const { return work; }
  const std::vector<Remark> &remarks() const { return said; }

private:
  void end();

  std::vector<PhaseTime> times;
  std::vector<KernelWork> work;
  /// Passes on different functions may emit remarks concurrently.
  std::mutex mutex;
  std::vector<Remark> said;
  /// Whether current remarks do not concern the module being compiled.
  bool muted = false;
  /// The phase in progress.
  std::string current;
  std::chrono::steady_clock::time_point since;
};

/// A kernel's mean figures per call of the function: seconds, operations,
/// bytes.
struct Kernel {
  std::string name;
  /// The kernel's source location, "name.mlir:3", or "" if unknown.
  std::string place;
  double calls = 0, blocks = 0;
  double seconds = 0;
  /// Fraction of the time of a call.
  double share = 0;
  /// Nothing if they cannot be counted.
  std::optional<double> operations, bytes;

  /// Returns operations per byte; nothing if either is unknown or 0.
  std::optional<double> intensity() const;
  /// Returns whether the multiply-adds would take longer than the memory
  /// traffic.
  bool boundByOperations(const Roofs &roofs) const;
  /// Returns the min seconds permitted by the peak rates: for operations or for
  /// bytes, whichever is longer. Nothing if neither is known.
  std::optional<double> roofSeconds(const Roofs &roofs) const;
};

struct Report {
  /// The function's name for readers, "@step", or a title for several
  /// functions.
  std::string title;
  std::string function, target, isa;
  /// As LLVM names it: "znver4".
  std::string processor;
  unsigned threads = 1, calls = 0;
  /// The mean time of a call, and the part outside all kernels.
  double seconds = 0, outside = 0;
  /// Bytes of the arguments and results.
  double bytes = 0;
  /// Nothing for targets other than this processor.
  std::optional<Roofs> roofs;
  /// In the order of their first call.
  std::vector<Kernel> kernels;
  std::vector<PhaseTime> phases;
  std::vector<Remark> remarks;

  double compileSeconds() const;
};

/// Calls `run` once, then `calls` times with a profile, and measures the peak
/// rates if the target is this processor.
llvm::Expected<Report>
measure(const Signature &signature, llvm::StringRef target, llvm::StringRef isa,
        const Recorder &recorder, unsigned calls, unsigned threads,
        llvm::function_ref<llvm::Error(KernelProfile *)> run);

/// Joins the reports of functions that are called one after another, each the
/// given number of times, on one target; there must be at least one. Kernels
/// keep the order of the functions.
Report join(llvm::StringRef title,
            llvm::ArrayRef<std::pair<const Report *, unsigned>> parts);

/// Returns tables for a terminal.
std::string toText(const Report &report);
/// Returns one JSON object, with seconds, operations and bytes in plain units,
/// and null for unknown values. Ends in a newline.
std::string toJson(const Report &report);
/// Returns a self-contained page: Page.html with the JSON in it.
std::string toHtml(const Report &report);

} // namespace drawloom::report

#endif // DRAWLOOM_LIB_REPORT_REPORT_H
