//===- Estimate.h - what a kernel will cost ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_COST_ESTIMATE_H
#define DRAWLOOM_CODEGEN_NVPTX_COST_ESTIMATE_H

#include "codegen/nvptx/emit/Machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::nvptx {

/// A prediction, by arithmetic on a kernel whose tiles have layouts.
struct Estimate {
  /// Registers that a thread would take if it had as many as it liked.
  int64_t registers = 0;
  /// Those that ptxas is predicted to lack: fragments of the operands of tensor
  /// cores come to them, and it was seen to do without some of other kernels'.
  int64_t spilled = 0;
  /// Of a block, with nothing of it used twice but by different iterations.
  int64_t sharedBytes = 0;
  /// Blocks that a multiprocessor holds; 0 where not one fits.
  int64_t resident = 0;
  /// Clocks of a multiprocessor for one of the grid's blocks, were nothing else
  /// in the way: issue slots, tensor cores, special functions, banks of shared
  /// memory, memory.
  double issue = 0, tensor = 0, special = 0, shared = 0, memory = 0;
  /// Clocks of a multiprocessor for the whole grid, with what waits because too
  /// few warps are resident.
  double clocks = 0;
  /// Which of the five is the longest.
  llvm::StringRef bound;

  bool feasible() const { return resident > 0; }
};

/// For kernels in the phase `layouts`.
Estimate estimateKernel(mlir::func::FuncOp kernel, const Machine &machine);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_COST_ESTIMATE_H
