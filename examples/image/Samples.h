//===- Samples.h - the batches of a picture ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_SAMPLES_H
#define DRAWLOOM_EXAMPLES_IMAGE_SAMPLES_H

#include "examples/image/Network.h"
#include "examples/image/Picture.h"
#include "examples/image/Random.h"

namespace image {

/// Draws the pixels of a picture in random order, each once before any comes
/// again: one random permutation after the other, cut into batches.
class Samples {
public:
  Samples(const Picture &picture, uint64_t seed);

  /// Fills xy[batch, 2] with the positions (in (0, 1), pixel centres) and
  /// rgb[batch, 3] with the colours of batch number `step`.
  void batch(int64_t step, int64_t size, Buffer &xy, Buffer &rgb);

private:
  /// Makes `order` the permutation number `epoch`: Fisher and Yates's shuffle,
  /// fed from a position of the stream that only the epoch determines.
  void shuffle(int64_t epoch);

  const Picture &picture;
  RandomStream random;
  int64_t epoch = -1;
  std::vector<int32_t> order;
};

/// The centre of every pixel, row by row: xy[pixels, 2].
std::vector<float> pixelCentres(const Picture &picture);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_SAMPLES_H
