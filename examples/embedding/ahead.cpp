//===- ahead.cpp - train by a program that was compiled before ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/Runtime.h"
#include <cmath>
#include <cstdio>

/// ahead FILE: the program is examples/embedding/step.mlir, compiled by
/// drawloom-translate --mlir-to-artifact --isa=all.
int main(int argc, char **argv) {
  auto program = drawloom::Program::load(argc > 1 ? argv[1] : "step.drawloom");
  if (!program)
    return std::fprintf(stderr, "%s\n", program.error().message().c_str()), 1;
  auto found = program->find("step");
  if (!found)
    return std::fprintf(stderr, "%s\n", found.error().message().c_str()), 1;
  drawloom::Function step = *found;
  std::printf("instruction set %s of", program->instructionSet().c_str());
  for (const std::string &set : program->instructionSets())
    std::printf(" %s", set.c_str());
  std::printf("\n");

  std::vector<float> x(256), y(256);
  for (int i = 0; i < 256; ++i) {
    x[i] = static_cast<float>(i) / 128 - 1;
    y[i] = std::sin(3 * x[i]);
  }
  // The results of a step must not be its arguments: two sets take turns.
  std::vector<float> w1(16), b1(16), w2(16), w1Next(16), b1Next(16), w2Next(16);
  for (int i = 0; i < 16; ++i) {
    w1[i] = 0.25f * static_cast<float>(i + 1);
    b1[i] = 0.1f * static_cast<float>(i % 4);
    w2[i] = i % 2 ? 0.1f : -0.1f;
  }
  float rate = 0.1f, loss = 0;
  auto buffer = [](auto &values) {
    return drawloom::buffer(values.data(), values.size());
  };
  for (int i = 0; i <= 2000; ++i) {
    auto done = step.call({buffer(x), buffer(y), buffer(w1), buffer(b1),
                           buffer(w2), drawloom::buffer(&rate, 1)},
                          {drawloom::buffer(&loss, 1), buffer(w1Next),
                           buffer(b1Next), buffer(w2Next)});
    if (!done)
      return std::fprintf(stderr, "%s\n", done.error().message().c_str()), 1;
    w1.swap(w1Next);
    b1.swap(b1Next);
    w2.swap(w2Next);
    if (i % 500 == 0)
      std::printf("step %4d: loss %.6f\n", i, static_cast<double>(loss));
  }
  return 0;
}
