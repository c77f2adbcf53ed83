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
/// structured phase: of linalg, arith and math ops; an add, a multiplication, a
/// division, a call of a function such as exp are one each. Nothing where an
/// extent or a trip count is not known.
std::optional<double> countOperations(mlir::ModuleOp module);

/// What a kernel does, from its code in the phase `kernels`: what was
/// recomputed or padded counts too, and a block that is cut short counts as
/// whole.
struct KernelWork {
  std::string name;
  /// Where it comes from: "name.mlir:3".
  std::string place;
  /// Nothing where a trip count is not known.
  std::optional<double> operationsPerBlock;
  /// Of the buffers that it reads or writes, each once. A table that rows look
  /// up counts whole.
  double bytes = 0;
};
std::vector<KernelWork> measureKernels(mlir::ModuleOp module);

} // namespace drawloom::report

#endif // DRAWLOOM_LIB_REPORT_WORK_H
