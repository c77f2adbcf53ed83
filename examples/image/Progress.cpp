//===- Progress.cpp - how far the training is -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <string>

using namespace llvm;
using namespace image;

Progress::Progress(int64_t firstStep, int64_t steps)
    : firstStep(firstStep), steps(steps),
      isTerminal(sys::Process::StandardErrIsDisplayed()), start(Clock::now()),
      lastDrawn(start) {}

void Progress::update(int64_t step, float loss) {
  averageLoss = 0.95 * averageLoss + 0.05 * static_cast<double>(loss);
  weight = 0.95 * weight + 0.05;
  Clock::time_point now = Clock::now();
  auto interval = isTerminal ? std::chrono::milliseconds(100)
                             : std::chrono::milliseconds(5000);
  if (now - lastDrawn < interval && step != steps)
    return;
  lastDrawn = now;
  draw(step, now);
}

void Progress::draw(int64_t step, Clock::time_point now) {
  double seconds = std::chrono::duration<double>(now - start).count();
  double speed =
      static_cast<double>(step - firstStep) / std::max(seconds, 1e-9);
  double loss = averageLoss / weight;
  auto left = static_cast<int64_t>(
      std::ceil(static_cast<double>(steps - step) / std::max(speed, 1e-9)));
  constexpr int64_t width = 24;
  int64_t filled = width * step / steps;
  raw_ostream &stream = errs();
  if (isTerminal)
    stream << "\r";
  stream << "[" << std::string(filled, '#') << std::string(width - filled, '.')
         << "] " << step << "/" << steps
         << format("  %.1f steps/s  loss %.2e  psnr %.2f dB  %d:%02d left",
                   speed, loss, -10 * std::log10(loss),
                   static_cast<int>(left / 60), static_cast<int>(left % 60));
  // The line may be shorter than the one it covers.
  stream << (isTerminal ? "   " : "\n");
  lineOpen = isTerminal;
}

void Progress::finish() {
  if (lineOpen)
    errs() << "\n";
  lineOpen = false;
}
