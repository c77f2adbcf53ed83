//===- fit.cpp - train a small network from C++ ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/Drawloom.h"
#include <cmath>
#include <cstdio>

// sin(3 x) by a network of 16 hidden units: the step takes the parameters, and
// gives the loss and the parameters after one step of gradient descent.
static const char *const text = R"(
!x = tensor<256x1xf32>
!h = tensor<256x16xf32>
!w1 = tensor<1x16xf32>
!b1 = tensor<16xf32>
!w2 = tensor<16x1xf32>

func.func private @loss(%x: !x, %y: !x, %w1: !w1, %b1: !b1, %w2: !w2) -> tensor<f32> {
  %e = tensor.empty() : !h
  %bias = linalg.broadcast ins(%b1 : !b1) outs(%e : !h) dimensions = [0]
  %z = linalg.matmul ins(%x, %w1 : !x, !w1) outs(%bias : !h) -> !h
  %h = kan.tanh %z : !h
  %zero = arith.constant dense<0.0> : !x
  %p = linalg.matmul ins(%h, %w2 : !h, !w2) outs(%zero : !x) -> !x
  %l = loss.mse %p, %y : !x -> tensor<f32>
  return %l : tensor<f32>
}

func.func @step(%x: !x, %y: !x, %w1: !w1, %b1: !b1, %w2: !w2, %rate: f32) -> (tensor<f32>, !w1, !b1, !w2) {
  %l, %d:3 = ad.value_and_grad @loss(%x, %y, %w1, %b1, %w2) wrt [2, 3, 4]
    : (!x, !x, !w1, !b1, !w2) -> (tensor<f32>, !w1, !b1, !w2)
  %n:3 = opt.sgd params(%w1, %b1, %w2) grads(%d#0, %d#1, %d#2) lr(%rate : f32) : !w1, !b1, !w2
  return %l, %n#0, %n#1, %n#2 : tensor<f32>, !w1, !b1, !w2
}
)";

int main() {
  auto compiler = drawloom::Compiler::create();
  if (!compiler)
    return std::fprintf(stderr, "%s\n", compiler.error().message().c_str()), 1;
  auto program = compiler->compile({{"fit.mlir", text}});
  if (!program)
    return std::fprintf(stderr, "%s: %s\n", program.error().location().c_str(),
                        program.error().message().c_str()),
           1;
  drawloom::Function step = *program->find("step");

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
