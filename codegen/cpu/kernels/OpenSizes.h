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

/// A size is at most (the sum of times[i] * extent i, + constant) / divisor,
/// with no negative times.
struct SizeBound {
  /// By the number of an open extent.
  llvm::SmallVector<int64_t> times;
  int64_t constant = 0;
  int64_t divisor = 1;
  /// Where something was subtracted.
  bool mayBeNegative = false;
};

/// What a value is that no op computes: an open extent by its number, or
/// another value.
struct SizeSource {
  std::optional<int64_t> extent;
  mlir::Value value;
};

/// What `size` is at most, if it is made of open extents and constants as
/// IndexMath makes it: by additions, multiplications with constants, divisions
/// by constants that round up or down, minima and maxima. The ops that compute
/// it, on the way through the sources, are added to `ops` before their users.
std::optional<SizeBound>
boundOf(mlir::Value size, llvm::function_ref<SizeSource(mlir::Value)> source,
        llvm::SmallVectorImpl<mlir::Operation *> *ops = nullptr);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_OPENSIZES_H
