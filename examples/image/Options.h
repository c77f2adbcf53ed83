//===- Options.h - what a run of the example is asked to do -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_OPTIONS_H
#define DRAWLOOM_EXAMPLES_IMAGE_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace image {

enum class Activation { Rational, Relu, Silu };
enum class Encoding { Grid, Frequency };

/// "rational", "relu", "silu"; "grid", "frequency".
llvm::StringRef nameOf(Activation activation);
llvm::StringRef nameOf(Encoding encoding);

/// What decides the bits of a run; a checkpoint carries all of it.
struct Settings {
  Activation activation = Activation::Rational;
  Encoding encoding = Encoding::Grid;
  int64_t steps = 0;
  int64_t batch = 0;
  uint64_t seed = 0;
  /// Multiplies every learning rate of network.mlir.
  double rate = 1;
  /// The picture's file.
  std::string image;
};

struct Options {
  Settings settings;
  std::string output;
  std::string checkpoint;
  bool resume = false;
  /// The command line names a picture (a checkpoint names one too).
  bool imageGiven = false;
  unsigned threads = 1;
  /// What runs the network: cpu, cuda, emulator.
  std::string target;
  /// Folder of network.mlir and of its libraries.
  std::string network;
  /// Where the program is written after each phase; empty: nowhere.
  std::string dumpPhasesTo;
};

/// Parses the command line; prints the help or an error and exits where that
/// is all there is to do.
Options parseOptions(int argc, char **argv);

/// A resumed run takes its settings from the checkpoint. Fails, naming the
/// option, where the command line asks for something else.
llvm::Error checkAgainstCheckpoint(const Settings &checkpoint);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_OPTIONS_H
