//===- Checkpoint.h - a run that can be continued ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_CHECKPOINT_H
#define DRAWLOOM_EXAMPLES_IMAGE_CHECKPOINT_H

#include "examples/image/Network.h"
#include "examples/image/Options.h"

namespace image {

/// All that a run depends on. The state of the random numbers is the seed and
/// the number of steps done: see Random.h.
struct Checkpoint {
  Settings settings;
  uint64_t picture = 0; ///< Picture::fingerprint()
  uint64_t network = 0; ///< Network::fingerprint()
  /// One for each step done.
  std::vector<float> losses;
  double seconds = 0;
  State state;
};

/// The file: "DRAWLOOM-IMAGE\n", a version, the fields, all little-endian, and
/// a hash of everything before it.
llvm::Error writeCheckpoint(llvm::StringRef path, const Checkpoint &checkpoint);
llvm::Expected<Checkpoint> readCheckpoint(llvm::StringRef path);

/// The size of the file, to make sure of the space before a run.
uint64_t checkpointBytes(const Settings &settings);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_CHECKPOINT_H
