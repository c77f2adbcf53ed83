//===- Network.h - the compiled network and its state -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_NETWORK_H
#define DRAWLOOM_EXAMPLES_IMAGE_NETWORK_H

#include "drawloom/Drawloom.h"
#include "examples/image/Initial.h"
#include "llvm/Support/Error.h"
#include <cstdlib>
#include <memory>

namespace image {

/// A dense array of floats at an address that suits every vector type.
class Buffer {
public:
  explicit Buffer(int64_t size = 0);
  float *data() { return memory.get(); }
  const float *data() const { return memory.get(); }
  int64_t size() const { return length; }
  llvm::ArrayRef<float> values() const { return {data(), size_t(length)}; }

private:
  struct Free {
    void operator()(float *pointer) const { std::free(pointer); }
  };
  int64_t length;
  std::unique_ptr<float, Free> memory;
};

/// What a training step reads and writes: the parameters, then Adam's first
/// moments of each, then the second moments.
struct State {
  std::vector<Buffer> tensors;

  static State initial(const Settings &settings);
  const Buffer &parameter(ParameterIndex index) const { return tensors[index]; }
};

/// network.mlir, compiled for one choice of encoding, activation and batch.
class Network {
public:
  static llvm::Expected<Network> create(const Options &options,
                                        const Settings &settings);

  /// Identifies the sources: a checkpoint belongs to one network.
  uint64_t fingerprint() const { return sources; }

  /// One step of training on the positions xy[batch, 2] and their colours
  /// rgb[batch, 3]. `rate` is the schedule's factor, `step` counts from
  /// 1. Returns the loss before the step.
  llvm::Expected<float> train(const Buffer &xy, const Buffer &rgb, float rate,
                              int64_t step, State &state, unsigned threads);

  /// The colours [rows, 3] at the positions xy[rows, 2].
  llvm::Expected<std::vector<float>>
  predict(llvm::ArrayRef<float> xy, const State &state, unsigned threads) const;

  /// The activation of each of the 8 groups of a hidden layer at the points x:
  /// result[group][point].
  llvm::Expected<std::vector<std::vector<float>>>
  activation(llvm::ArrayRef<float> x, const Buffer &numerator,
             const Buffer &denominator) const;

private:
  explicit Network(drawloom::Program program) : program(std::move(program)) {}

  drawloom::Program program;
  std::vector<drawloom::Function> functions; ///< In the order of Entry.
  uint64_t sources = 0;
  /// The results of a step must not overlap its arguments.
  State next;
};

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_NETWORK_H
