//===- Interval.h - what an index may be -----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_GRAPH_INTERVAL_H
#define DRAWLOOM_PASSES_GRAPH_INTERVAL_H

#include "mlir/IR/Value.h"
#include <cstdint>

namespace drawloom {

/// Integers from `least` to `greatest`; by default, all integers.
struct Interval {
  int64_t least = INT64_MIN, greatest = INT64_MAX;
};

/// Returns the range of integers that a value can have, based on constants,
/// loops of known extents and arithmetic on them. Upstream's integer range
/// analysis supports neither the loops of linalg nor those of scf.forall.
Interval intervalOf(mlir::Value value);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_INTERVAL_H
