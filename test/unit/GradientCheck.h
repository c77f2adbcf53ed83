//===- GradientCheck.h - gradients against differences ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gradient test is a function in MLIR and one call:
//
//   TEST(Gradients, Exp) {
//     GradientCheck check(R"mlir(
//       func.func @f(%x: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
//         %y = math.exp %x : tensor<$Mx$Nxf64>
//         return %y : tensor<$Mx$Nxf64>
//       })mlir");
//     check.run();
//   }
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_UNIT_GRADIENTCHECK_H
#define DRAWLOOM_TEST_UNIT_GRADIENTCHECK_H

#include "dialects/Interfaces/HostTensor.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace drawloom::test {

/// Differentiates a function with `ad.vjp` and `--differentiate`, interprets
/// the result in float64 on random inputs, and compares every gradient with
/// central differences of the interpreted function: first derivatives, then the
/// derivatives of the gradients. Reports deviations as failures of the current
/// test. Write functions in f64, so that their constants are exact.
struct GradientCheck {
  explicit GradientCheck(std::string source) : source(std::move(source)) {}

  /// Checks all combinations of extents.
  void run();

  /// The module; `$M` stands for each of the extents given for "M" in turn.
  std::string source;
  /// The function that is differentiated.
  std::string entry = "f";
  /// Its arguments whose gradients are checked.
  std::vector<int64_t> wrt = {0};
  /// 0, 1, and an odd size; another name can be added.
  std::map<std::string, std::vector<int64_t>> extents = {{"M", {0, 1, 3}},
                                                         {"N", {1, 5}}};
  /// Range of the random inputs; choose it to stay clear of kinks and poles.
  double low = -1.0, high = 1.0;
  /// Arguments with given values, by index: integers above all.
  std::map<int64_t, HostTensor> fixed;
  /// 1: gradients; 2: the derivatives of gradients as well.
  int order = 2;
  /// Allowed deviation, relative to the largest gradient of the argument.
  double tolerance = 1e-6;
  /// Step of the differences.
  double step = 1e-5;
  uint64_t seed = 1;

private:
  void runOnce(const std::string &text, const std::string &label);
};

} // namespace drawloom::test

#endif // DRAWLOOM_TEST_UNIT_GRADIENTCHECK_H
