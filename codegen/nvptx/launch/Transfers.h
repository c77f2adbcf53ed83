//===- Transfers.h - values that leave the device ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between kernels a transfer is a call of a private function without a body,
// whose dictionary `drawloom.transfer` says which of LaunchTransfer's kinds it
// is, and of which record: so it is ordered and given memory as a product by a
// library is.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAUNCH_TRANSFERS_H
#define DRAWLOOM_CODEGEN_NVPTX_LAUNCH_TRANSFERS_H

#include "codegen/nvptx/launch/LaunchPlan.h"
#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace drawloom::nvptx {

/// Makes calls of a function's transfers.
llvm::LogicalResult callTransfers(mlir::func::FuncOp function,
                                  mlir::SymbolTable &symbols);

/// What a call stands for; nothing where it is no transfer.
std::optional<LaunchTransfer> transferOf(mlir::func::CallOp call);

/// The memory that a step uses.
struct StepMemory {
  /// Behind each of its operands.
  llvm::SmallVector<int64_t> bytes;
  /// Which of them are the first that it writes to.
  size_t written = 0;
};

/// Adds to an entry with transfers what these need on a device that goes on
/// meanwhile: a value is fetched as soon as nothing else uses the memory that
/// it comes to, and whoever changes the memory of one that was stored waits.
/// `memory` is that of each step.
void orderTransfers(LaunchEntry &entry, std::vector<StepMemory> memory);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAUNCH_TRANSFERS_H
