//===- Passes.h - passes of the GPU emulator --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_PASSES_H
#define DRAWLOOM_CODEGEN_EMULATOR_PASSES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace drawloom::emulator {

#define GEN_PASS_DECL
#include "codegen/emulator/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/emulator/Passes.h.inc"

/// Those of accesses' attributes nvptx::elementAttr that differ, by the numbers
/// that calls pass.
inline constexpr llvm::StringLiteral elementsAttr =
    "drawloom.emulator_elements";
/// What stands where in the source, strings by site number.
inline constexpr llvm::StringLiteral sitesAttr = "drawloom.emulator_sites";
/// In front of a kernel's name: the function that runs one thread of it.
inline constexpr llvm::StringLiteral emulatePrefix = "emulate.";
/// The arena of shared memory that all kernels have.
inline constexpr llvm::StringLiteral arenaName = "global_smem";

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_PASSES_H
