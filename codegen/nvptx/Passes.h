//===- Passes.h - from block programs to kernels of nvvm --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PASSES_H
#define DRAWLOOM_CODEGEN_NVPTX_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace drawloom::nvptx {

#define GEN_PASS_DECL
#include "codegen/nvptx/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/nvptx/Passes.h.inc"

/// Marks a function that one launch runs.
inline constexpr llvm::StringLiteral kernelAttr = "drawloom.kernel";
/// Blocks of a kernel.
inline constexpr llvm::StringLiteral gridAttr = "drawloom.grid";
/// Of a kernel's memory arguments, how many it only reads.
inline constexpr llvm::StringLiteral inputsAttr = "drawloom.inputs";
inline constexpr llvm::StringLiteral sharedBytesAttr = "drawloom.shared_bytes";
inline constexpr llvm::StringLiteral warpsAttr = "drawloom.warps";
/// On an access in the phase `llvm`, if the pass was asked for it: which
/// element of which buffer it is of, by the tile's layout
/// (LowerKernel::describe). It is what the emulator compares addresses with.
inline constexpr llvm::StringLiteral elementAttr = "drawloom.element";
/// The same of what an asynchronous copy writes; the other is what it reads.
inline constexpr llvm::StringLiteral copiedToAttr = "drawloom.copied_to";
/// Of a module: products of f32 may round their operands to tf32.
inline constexpr llvm::StringLiteral tf32Attr = "drawloom.tf32";
/// On a call of a kernel: pairs (result, operand) of memory that the kernel
/// updates in place.
inline constexpr llvm::StringLiteral updatesAttr = "drawloom.updates";

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PASSES_H
