//===- Transfers.h - values that a program keeps outside memory -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_TRANSFERS_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_TRANSFERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace drawloom::cpu {

/// What a transfer is called by until it goes to the host: a function of its
/// kind, the record's number, the memory and its bytes.
inline constexpr llvm::StringLiteral transferName = "drawloom.transfer";

/// How the ops of the offload dialect read and write memory.
void registerTransferModels(mlir::DialectRegistry &registry);

/// Makes calls of `transferName` of the transfers in a module's functions, and
/// notes in their signatures how many records they have.
llvm::LogicalResult lowerTransfers(mlir::ModuleOp module);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_TRANSFERS_H
