//===- LowerOffload.h - values a program keeps outside memory ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_LOWEROFFLOAD_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_LOWEROFFLOAD_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace drawloom::cpu {

/// Name of the function that a transfer calls until it is lowered to a call of
/// the host: its arguments are the kind, the record's number, the memory and
/// its bytes.
inline constexpr llvm::StringLiteral transferName = "drawloom.transfer";

/// Registers how the ops of the offload dialect read and write memory.
void registerTransferModels(mlir::DialectRegistry &registry);

/// Turns the transfers in a module's functions into calls of `transferName`,
/// and notes the number of records in the signatures.
llvm::LogicalResult lowerTransfers(mlir::ModuleOp module);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_LOWEROFFLOAD_H
