//===- Random.h - seeded random arguments -----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_RANDOM_H
#define DRAWLOOM_LIB_INTERPRETER_RANDOM_H

#include "dialects/Interfaces/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <random>

namespace drawloom {

/// Reproducible random values: a seed gives the same values on every machine
/// and with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// Returns a standard normal number.
  double normal();
  /// Returns a number uniform in [low, high].
  double uniform(double low, double high);
  /// Returns an integer uniform in low..high, both included.
  int64_t integer(int64_t low, int64_t high);

  struct Range {
    double low, high;
  };
  /// Returns a tensor with the type's elements and the given shape. Floats are
  /// standard normal, or uniform in `range`, and rounded to the type, so that
  /// every back end can be given the same values. Integers are in `range`, by
  /// default 0..2 (0..1 for i1), since they often are indices.
  HostTensor tensor(mlir::Type type, llvm::ArrayRef<int64_t> shape,
                    std::optional<Range> range = std::nullopt);

private:
  /// Returns a number uniform in (0, 1].
  double unit();
  std::mt19937_64 engine;
};

/// Returns random arguments for a function: all dynamic extents are one small
/// odd number above 2, so that shapes that must agree do. The argument
/// attributes `check.range` and `check.shape` override ranges and extents.
/// Emits an error and fails for unsupported types.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
randomArguments(mlir::func::FuncOp function, uint64_t seed);

} // namespace drawloom

#endif // DRAWLOOM_LIB_INTERPRETER_RANDOM_H
