//===- OpenSizes.h - what sizes of open extents are at most -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_OPENSIZES_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_OPENSIZES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace drawloom::cpu {

/// An upper bound of a size: (the sum of times[i] * extent i, + constant) /
/// divisor, with nonnegative times.
struct SizeBound {
  /// Indexed by the number of an open extent.
  llvm::SmallVector<int64_t> times;
  int64_t constant = 0;
  int64_t divisor = 1;
  /// Whether a subtraction occurred.
  bool mayBeNegative = false;
};

/// The source of a value that no op computes: an open extent by number, or
/// another value.
struct SizeSource {
  std::optional<int64_t> extent;
  mlir::Value value;
};

/// Returns an upper bound of `size`, if it is computed from open extents and
/// constants in IndexMath's way: by additions, multiplications by constants,
/// divisions by constants that round up or down, minima and maxima. The ops
/// that compute it, up to the sources, are added to `ops` before their users.
std::optional<SizeBound>
boundOf(mlir::Value size, llvm::function_ref<SizeSource(mlir::Value)> source,
        llvm::SmallVectorImpl<mlir::Operation *> *ops = nullptr);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_OPENSIZES_H
