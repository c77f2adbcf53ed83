//===- Passes.h - from block programs to kernels of nvvm --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PASSES_H
#define DRAWLOOM_CODEGEN_NVPTX_PASSES_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace drawloom::nvptx {

#define GEN_PASS_DECL
#include "codegen/nvptx/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/nvptx/Passes.h.inc"

/// Returns whether a function is a kernel with a body.
inline bool isKernel(mlir::func::FuncOp function) {
  return !function.isExternal() && function->hasAttr(kernelAttr);
}
/// Returns the warps of each block of a kernel; four by default.
inline int64_t warpsOf(mlir::func::FuncOp kernel) {
  auto warps = kernel->getAttrOfType<mlir::IntegerAttr>(warpsAttr);
  return warps ? warps.getInt() : 4;
}

/// Adds the passes that give a kernel its layouts and its shared memory by a
/// schedule: the pipeline `nvptx-apply-schedule`, which nvptx-search-schedules
/// runs for each candidate.
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

/// Adds the passes from kernels over tiles to `llvm` and `nvvm`: the pipeline
/// `nvptx-lower`. Options are those of nvptx-lower-tiles.
struct LowerOptions : mlir::PassPipelineOptions<LowerOptions> {
  Option<int64_t> maxOps{
      *this, "max-ops",
      llvm::cl::desc("Max operations of a kernel; a larger kernel is refused"),
      llvm::cl::init(NvptxLowerTilesOptions().maxOps)};
  Option<bool> describeAccesses{
      *this, "describe-accesses",
      llvm::cl::desc("Annotate each access with the element that it accesses"),
      llvm::cl::init(NvptxLowerTilesOptions().describeAccesses)};
  Option<bool> splitWords{
      *this, "split-words",
      llvm::cl::desc("Convert a word of bf16 to two f32 at once"),
      llvm::cl::init(NvptxLowerTilesOptions().splitWords)};
  Option<bool> storeMatrices{
      *this, "store-matrices",
      llvm::cl::desc(
          "Store matrix fragments with stmatrix, which requires sm_90"),
      llvm::cl::init(NvptxLowerTilesOptions().storeMatrices)};
};
void buildLower(mlir::OpPassManager &pm, const LowerOptions &options);
void registerLower();

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PASSES_H
