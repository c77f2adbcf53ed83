//===- OffloadSteps.h - values that leave the device ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between kernels, a transfer is a call of a private function without a body,
// whose dictionary `drawloom.transfer` states its kind (of LaunchTransfer's)
// and its record. So it is ordered and given memory like a library product.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OFFLOADSTEPS_H
#define DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OFFLOADSTEPS_H

#include "codegen/nvptx/launch/LaunchPlan.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace drawloom::nvptx {

/// Turns a function's transfers into calls.
llvm::LogicalResult callTransfers(mlir::func::FuncOp function,
                                  mlir::SymbolTable &symbols);

/// Returns the transfer that a call stands for; nothing if it is no transfer.
std::optional<LaunchTransfer> transferOf(mlir::func::CallOp call);

/// The memory that a step uses.
struct StepMemory {
  /// The bytes behind each of its operands.
  llvm::SmallVector<int64_t> bytes;
  /// Index of the first operand that is written.
  size_t written = 0;
};

/// Adds to an entry the synchronization that its transfers need on an
/// asynchronous device: a value is fetched as soon as nothing else uses the
/// memory it is read into, and a step that overwrites the memory of a stored
/// value waits. `memory` has one element per step.
void orderTransfers(LaunchEntry &entry, std::vector<StepMemory> memory);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAUNCH_OFFLOADSTEPS_H
