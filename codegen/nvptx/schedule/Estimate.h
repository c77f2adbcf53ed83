//===- Estimate.h - what a kernel will cost ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_SCHEDULE_ESTIMATE_H
#define DRAWLOOM_CODEGEN_NVPTX_SCHEDULE_ESTIMATE_H

#include "codegen/nvptx/emit/Machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::nvptx {

/// A predicted cost, computed from a kernel whose tiles have layouts.
struct Estimate {
  /// Registers that a thread would use if their number were unlimited.
  int64_t registers = 0;
  /// Registers that ptxas is predicted to spill. In kernels with tensor core
  /// products, the fragments of operands are added to the live registers; in
  /// other kernels, the registers that ptxas was observed to do without are
  /// subtracted.
  int64_t spilled = 0;
  /// Bytes of shared memory of a block, if only different iterations reuse
  /// bytes.
  int64_t sharedBytes = 0;
  /// Number of blocks that fit on a multiprocessor at once; 0 if none fits.
  int64_t resident = 0;
  /// Clocks of a multiprocessor for one block of the grid, limited by one
  /// resource alone: issue slots, tensor cores, special functions, banks of
  /// shared memory, memory.
  double issue = 0, tensor = 0, special = 0, shared = 0, memory = 0;
  /// Clocks of a multiprocessor for the whole grid, including stalls because
  /// too few warps are resident.
  double clocks = 0;
  /// The resource, of the five, that takes the longest.
  llvm::StringRef bound;

  bool feasible() const { return resident > 0; }
};

/// Estimates a kernel between the phases `buffers` and `kernels`, when it has
/// layouts.
Estimate estimateKernel(mlir::func::FuncOp kernel, const Machine &machine);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_SCHEDULE_ESTIMATE_H
