//===- Progress.h - how far the training is ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_PROGRESS_H
#define DRAWLOOM_EXAMPLES_IMAGE_PROGRESS_H

#include <chrono>
#include <cstdint>

namespace image {

/// Reports on standard error: one line that is redrawn where a person watches,
/// a new line every few seconds where the output goes to a file.
class Progress {
public:
  Progress(int64_t firstStep, int64_t steps);
  /// Call after each step: `step` steps are done, the last had loss `loss`.
  void update(int64_t step, float loss);
  /// Ends the line that is being redrawn.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  void draw(int64_t step, Clock::time_point now);

  int64_t firstStep, steps;
  bool isTerminal;
  Clock::time_point start, lastDrawn;
  double averageLoss = 0, weight = 0;
  bool lineOpen = false;
};

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_PROGRESS_H
