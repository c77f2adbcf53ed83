//===- GpuTarget.h - NVIDIA GPUs as targets ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_GPUTARGET_H
#define DRAWLOOM_CODEGEN_NVPTX_GPUTARGET_H

#include "codegen/CompileTarget.h"
#include "codegen/nvptx/Passes.h"

namespace drawloom::nvptx {

/// Lowers block programs to kernels of nvvm, independently of what runs them.
class GpuTarget : public CompileTarget {
public:
  void registerDialects(mlir::DialectRegistry &registry) const override;
  PhaseText phaseText(Phase phase) const override;
  BlockBudget blockBudget() const override;
  /// The rounding of sums depends on everything that a kernel is compiled for.
  bool bindsAtTheEnd() const override { return true; }
  void buildPhase(mlir::OpPassManager &pm, Phase phase,
                  const CodegenOptions &options) const override;
  int64_t blockBytesOf(mlir::ModuleOp module) const override;
  std::optional<int64_t> workspaceBytesOf(mlir::ModuleOp module) const override;
  bool hasOwnMemory() const override { return true; }
  std::optional<TileTrial> tileTrial() const override;
  std::optional<Prediction> predict(mlir::ModuleOp module,
                                    llvm::StringRef function) const override;

protected:
  MemoryRates memoryRates() const override;
  /// Returns the facts of an H200, unless a target knows its devices.
  MachineFacts machineOf(llvm::StringRef isa) const override;
  /// Returns the max bytes of shared memory per block for the set.
  virtual int64_t sharedLimit(llvm::StringRef isa) const = 0;
  /// Returns the bytes of workspace of a library product.
  virtual int64_t productWorkspace(llvm::StringRef isa) const {
    return int64_t(4) << 20;
  }
  /// Returns whether accesses are annotated with the element they access.
  virtual bool describesAccesses() const { return false; }
};

/// Adds the passes from block programs to kernels over tiles and the plan of
/// their launches. `productWorkspace` is the workspace of a library product, in
/// bytes.
void addTilePasses(mlir::OpPassManager &passes,
                   const NvptxBlockToTileOptions &tiles = {},
                   int64_t productWorkspace = int64_t(4) << 20);

/// Returns the target for real devices, through the CUDA driver: the device
/// with the given number, or, if negative, the one of the calling thread.
const CompileTarget &cudaTarget(int device = -1);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_GPUTARGET_H
