//===- Work.h - operations and bytes of a program ------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_REPORT_WORK_H
#define DRAWLOOM_LIB_REPORT_WORK_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace drawloom::report {

/// Counts the floating-point operations of a module's public functions in the
/// structured phase, in linalg, arith and math ops; an addition, a
/// multiplication, a division, and a call of a function such as exp count as
/// one each. Returns nothing if an extent or a trip count is unknown.
std::optional<double> countOperations(mlir::ModuleOp module);

/// The work of a kernel, counted in its code in the phase `kernels`:
/// recomputation and padding count too, and a partial block counts as a whole
/// one.
struct KernelWork {
  std::string name;
  /// Source location: "name.mlir:3".
  std::string place;
  /// Nothing if a trip count is unknown.
  std::optional<double> operationsPerBlock;
  /// Bytes of the buffers that it reads or writes, each counted once. A table
  /// that rows look up counts as a whole.
  double bytes = 0;
};
std::vector<KernelWork> measureKernels(mlir::ModuleOp module);

} // namespace drawloom::report

#endif // DRAWLOOM_LIB_REPORT_WORK_H
