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
#include "mlir/Pass/PassOptions.h"

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

/// On a kernel, from nvptx-spill-to-shared to the search that reads it:
/// registers that a thread lacks where most is alive.
inline constexpr llvm::StringLiteral lackingRegistersAttr =
    "drawloom.lacking_registers";

/// Whether a function is a kernel with a body.
inline bool isKernel(mlir::func::FuncOp function) {
  return !function.isExternal() && function->hasAttr(kernelAttr);
}
/// Warps of each block of a kernel; four where none are given.
inline int64_t warpsOf(mlir::func::FuncOp kernel) {
  auto warps = kernel->getAttrOfType<mlir::IntegerAttr>(warpsAttr);
  return warps ? warps.getInt() : 4;
}

/// Adds the passes that give a kernel its layouts and its shared memory by a
/// schedule: the pipeline `nvptx-apply-schedule`, which nvptx-search-schedules
/// tries.
struct ApplyScheduleOptions : mlir::PassPipelineOptions<ApplyScheduleOptions> {
  Option<int64_t> staging{
      *this, "staging",
      llvm::cl::desc("Bytes of shared memory for what is staged once"),
      llvm::cl::init(98304)};
  Option<int64_t> productBytes{
      *this, "product-bytes",
      llvm::cl::desc("Bytes of a product's operands that may lie in shared "
                     "memory at full depth"),
      llvm::cl::init(std::numeric_limits<int64_t>::max())};
  Option<int64_t> limit{
      *this, "limit",
      llvm::cl::desc("Bytes of shared memory that a block may use"),
      llvm::cl::init(232448)};
};
void buildApplySchedule(mlir::OpPassManager &pm,
                        const ApplyScheduleOptions &options);
void registerApplySchedule();

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PASSES_H
