//===- Samples.cpp - the batches of a picture -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Samples.h"
#include <algorithm>
#include <numeric>

using namespace image;

Samples::Samples(const Picture &picture, uint64_t seed)
    : picture(picture), random(seed, 0), order(picture.pixels()) {}

void Samples::shuffle(int64_t number) {
  int64_t pixels = picture.pixels();
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = pixels - 1; i > 0; --i)
    std::swap(order[i], order[random.below(number * pixels + i, i + 1)]);
  epoch = number;
}

static float centre(int64_t index, int64_t extent) {
  return static_cast<float>((static_cast<double>(index) + 0.5) /
                            static_cast<double>(extent));
}

void Samples::batch(int64_t step, int64_t size, Buffer &xy, Buffer &rgb) {
  int64_t pixels = picture.pixels();
  for (int64_t i = 0; i < size; ++i) {
    int64_t sample = step * size + i;
    if (sample / pixels != epoch)
      shuffle(sample / pixels);
    int64_t pixel = order[sample % pixels];
    xy.data()[2 * i] = centre(pixel % picture.width, picture.width);
    xy.data()[2 * i + 1] = centre(pixel / picture.width, picture.height);
    std::copy_n(picture.rgb.data() + 3 * pixel, 3, rgb.data() + 3 * i);
  }
}

std::vector<float> image::pixelCentres(const Picture &picture) {
  std::vector<float> xy;
  xy.reserve(2 * picture.pixels());
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x) {
      xy.push_back(centre(x, picture.width));
      xy.push_back(centre(y, picture.height));
    }
  return xy;
}
