//===- Initial.h - the network's parameters and first values ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_INITIAL_H
#define DRAWLOOM_EXAMPLES_IMAGE_INITIAL_H

#include "examples/image/Options.h"
#include <cstdint>
#include <vector>

namespace image {

/// Where the parameters stand in the argument lists of network.mlir.
enum ParameterIndex {
  Tables,
  Weights1,
  Bias1,
  Numerator1,
  Denominator1,
  Weights2,
  Bias2,
  Numerator2,
  Denominator2,
  Weights3,
  Bias3,
  ParameterCount
};

/// The shapes of the parameters under an encoding. The frequency encoding
/// learns nothing: its table is one unused entry.
std::vector<std::vector<int64_t>> parameterShapes(Encoding encoding);

/// The first value of a parameter:
///  - tables: uniform in +-1e-4 (Mueller et al., SIGGRAPH 2022, section 4);
///  - weights: uniform, variance 2 / inputs before an activation (He et al.,
///    ICCV 2015: the gain of relu, and of the rational below), 1 / inputs
///    before the colours;
///  - biases: 0;
///  - rational coefficients: a fit of relu, see below.
/// Only exact operations on the random bits, so that another program can
/// reproduce every bit.
std::vector<float> initialValues(ParameterIndex parameter, Encoding encoding,
                                 uint64_t seed);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_INITIAL_H
