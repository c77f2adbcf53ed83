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

/// Integers from `least` to `greatest`; unless something is known, all.
struct Interval {
  int64_t least = INT64_MIN, greatest = INT64_MAX;
};

/// The integers that a value can be, by constants, loops of known extents and
/// arithmetic on them. Upstream's analysis of integer ranges knows neither the
/// loops of linalg nor those of scf.forall.
Interval intervalOf(mlir::Value value);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_GRAPH_INTERVAL_H
