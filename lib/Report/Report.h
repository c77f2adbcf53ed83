//===- Report.h - where the time goes, and why ---------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A report of one function: it is compiled under a Recorder, then `measure`
// runs it under the profiler. Text, JSON and a page of HTML show the same.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_REPORT_REPORT_H
#define DRAWLOOM_LIB_REPORT_REPORT_H

#include "lib/Compiler/Compiler.h"
#include "lib/Report/Work.h"
#include <chrono>
#include <mutex>

namespace drawloom::report {

/// What one run of a function computes at least.
struct Roofs {
  /// Single-precision fused multiply-adds from registers, two operations each.
  double operationsPerSecond;
  /// a = b + s * c over arrays far larger than the caches.
  double bytesPerSecond;
};
/// Measures this machine, for some tenths of a second; on the threads that run
/// compiled programs. Nothing where it lacks the memory (192 MiB).
std::optional<Roofs> measureRoofs(unsigned threads, llvm::StringRef isa);

/// What the compiler said of a program while it compiled it.
struct Remark {
  /// "passed", "missed", "failed", "analysis"; of a diagnostic "remark" or
  /// "warning".
  std::string kind;
  /// The pass, and what it says: "fuse-rows", "Fused"; empty of a diagnostic.
  std::string category, name;
  /// "name.mlir:3", or "".
  std::string place;
  std::string message;
  /// Figures that come with it.
  std::vector<std::pair<std::string, std::string>> values;
  /// How often the same was said of the same place.
  unsigned count = 1;
};

/// A phase of the compiler, and the seconds that it took.
struct PhaseTime {
  std::string name;
  double seconds;
};

/// Follows a compilation. Belongs to one thread; must outlive the contexts
/// whose remarks it collects, and the options that it follows.
class Recorder {
public:
  /// Collects what is said in the context: remarks whose category matches
  /// `filter`, or with an empty one all but analyses. `print`: also as
  /// diagnostics. False where MLIR refuses.
  bool collectRemarks(mlir::MLIRContext &context, llvm::StringRef filter = "",
                      bool print = false);
  /// A remark, or where it was made before, more of it. From any thread.
  void add(Remark remark);
  /// Takes times and counts the kernels' work; what the options called before
  /// is called first.
  void follow(CompileOptions &options);
  /// Machine code is made and loaded.
  void finish();
  /// Forgets all, for the next program.
  void clear();

  const std::vector<PhaseTime> &phases() const { return times; }
  const std::vector<KernelWork> &kernels() const { return work; }
  const std::vector<Remark> &remarks() const { return said; }

private:
  void end();

  std::vector<PhaseTime> times;
  std::vector<KernelWork> work;
  /// Passes on different functions may say something at once.
  std::mutex mutex;
  std::vector<Remark> said;
  /// What is said now is not of what is compiled.
  bool muted = false;
  /// The phase that is under way.
  std::string current;
  std::chrono::steady_clock::time_point since;
};

/// The mean of the calls, in seconds, operations, bytes for each call of the
/// function.
struct Kernel {
  std::string name;
  /// Where it comes from, "name.mlir:3", or "" where that is not known.
  std::string place;
  double calls = 0, blocks = 0;
  double seconds = 0;
  /// Of the time of a call.
  double share = 0;
  /// Nothing where they cannot be counted.
  std::optional<double> operations, bytes;

  /// Operations by bytes; nothing where one is unknown or 0.
  std::optional<double> intensity() const;
  /// Whether the multiply-adds would take longer than the bytes.
  bool boundByOperations(const Roofs &roofs) const;
  /// The seconds that the roofs leave it: operations at one, bytes at the
  /// other, whichever is longer. Nothing where neither is known.
  std::optional<double> roofSeconds(const Roofs &roofs) const;
};

struct Report {
  /// How people call it: "@step", or what several functions are.
  std::string title;
  std::string function, target, isa;
  /// As LLVM calls it: "znver4".
  std::string processor;
  unsigned threads = 1, calls = 0;
  /// The mean of a call, and its part outside of all kernels.
  double seconds = 0, outside = 0;
  /// Of the arguments and results.
  double bytes = 0;
  /// Nothing for targets that are not this processor.
  std::optional<Roofs> roofs;
  /// In the order of their first call.
  std::vector<Kernel> kernels;
  std::vector<PhaseTime> phases;
  std::vector<Remark> remarks;

  double compileSeconds() const;
};

/// Calls `run` once, then `calls` times with a profile, and measures the roofs
/// if the target is this processor.
llvm::Expected<Report>
measure(const Signature &signature, llvm::StringRef target, llvm::StringRef isa,
        const Recorder &recorder, unsigned calls, unsigned threads,
        llvm::function_ref<llvm::Error(KernelProfile *)> run);

/// Of functions that are called one after the other, each so many times, on
/// one target; at least one. Kernels keep the order of the functions.
Report join(llvm::StringRef title,
            llvm::ArrayRef<std::pair<const Report *, unsigned>> parts);

/// Tables for a terminal.
std::string toText(const Report &report);
/// One object; seconds, operations and bytes in plain units, null for what is
/// not known. Ends in a newline.
std::string toJson(const Report &report);
/// A page that needs no other file: Page.html around the JSON.
std::string toHtml(const Report &report);

} // namespace drawloom::report

#endif // DRAWLOOM_LIB_REPORT_REPORT_H
