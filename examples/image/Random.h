//===- Random.h - reproducible random numbers -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_RANDOM_H
#define DRAWLOOM_EXAMPLES_IMAGE_RANDOM_H

#include <cstdint>

namespace image {

/// A stream of random numbers addressed by position: splitmix64 (Steele, Lea,
/// Flood, OOPSLA 2014) as a function of a counter. There is no state to save,
/// so a resumed run draws the same numbers, and benchmarks/drawloom-bench
/// image-torch has the same generator in ten lines.
class RandomStream {
public:
  RandomStream(uint64_t seed, uint64_t stream)
      : key(mix(seed + (stream + 1) * golden)) {}

  uint64_t bits(uint64_t position) const {
    return mix(key + (position + 1) * golden);
  }
  /// In [0, bound), bound <= 2^32: the upper 32 bits, scaled.
  uint64_t below(uint64_t position, uint64_t bound) const {
    return ((bits(position) >> 32) * bound) >> 32;
  }
  /// In [-1, 1), 53 random bits; exact in double.
  double symmetric(uint64_t position) const {
    return static_cast<double>(bits(position) >> 11) * 0x1p-52 - 1.0;
  }

private:
  static constexpr uint64_t golden = 0x9E3779B97F4A7C15;
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t key;
};

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_RANDOM_H
