//===- Options.h - the command line -----------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_OPTIONS_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_OPTIONS_H

#include "lib/Compiler/Compiler.h"
#include <map>

namespace drawloom::run {

/// What runs the program: compiled code (for CompileOptions::target), or the
/// reference.
enum class Target { Compiled, Interpreter };

struct Options {
  std::vector<std::string> files;
  std::string entry;

  std::vector<std::string> inputs;
  bool random = false;
  bool convert = false;
  uint64_t seed = 0;
  int64_t randomLow = 0, randomHigh = 2;
  /// Extents of arguments, by number.
  std::map<std::string, std::vector<int64_t>> shapes;

  std::string output;
  bool print = false;
  bool float64 = false;
  bool compareWithInterpreter = false;
  double absoluteTolerance = -1, relativeTolerance = -1;

  Target target = Target::Compiled;
  /// Of a program that was compiled before: what --target says, if anything.
  std::string savedTarget;
  unsigned threads = 1;
  CompileOptions compile;
  /// Nothing without --cache.
  std::optional<DiskCache> cache;
  /// --compile-to was given: the program is printed, or interpreted, as it is
  /// after that phase.
  bool stopsAtPhase = false;
  /// The program is compiled for any extents, not for those of the arguments.
  bool open = false;
  /// A file of schedules for kernels of GPUs.
  std::string schedule;
  std::string reproducer;
  /// Libraries with dialects and passes of others.
  std::vector<std::string> plugins;
  /// Where the compiled program is written; empty: nowhere.
  std::string save;
  std::string remarksFilter;
  /// Folders for values that leave memory.
  std::vector<std::string> spill;
  /// Print what this machine and these folders reach, and run nothing.
  bool calibrates = false;
  /// The plan for the memory is printed.
  bool printsPlan = false;
  /// Runs of --check-bits; 0 without it.
  unsigned bitRuns = 0;
  /// Time by kernel, instead of the whole.
  bool report = false;
  /// Where it is written, a .html, .json or .txt file; empty: standard output.
  std::string reportFile;
  /// Runs of --benchmark; 0 without it.
  unsigned benchmarkRuns = 0;
};

/// Reads the command line. On a wrong option or --help the process ends here,
/// as in every tool of LLVM; a wrong value is an error.
llvm::Expected<Options> parseCommandLine(int argc, char **argv);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_OPTIONS_H
