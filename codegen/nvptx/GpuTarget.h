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

/// The way down to kernels of nvvm, whatever runs them.
class GpuTarget : public CompileTarget {
public:
  void registerDialects(mlir::DialectRegistry &registry) const override;
  PhaseText phaseText(Phase phase) const override;
  BlockBudget blockBudget() const override;
  /// How sums round depends on all that a kernel is made of.
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
  /// Those of an H200, unless a target knows its devices.
  MachineFacts machineOf(llvm::StringRef isa) const override;
  /// Most shared memory of a block for the set, in bytes.
  virtual int64_t sharedLimit(llvm::StringRef isa) const = 0;
  /// Workspace of a product by a library, in bytes.
  virtual int64_t productWorkspace(llvm::StringRef isa) const {
    return int64_t(4) << 20;
  }
  /// Whether accesses say which element they are of.
  virtual bool describesAccesses() const { return false; }
};

/// From block programs to kernels over tiles and the plan of their launches.
/// `productWorkspace`: of a product by a library, in bytes.
void addTilePasses(mlir::OpPassManager &passes,
                   const NvptxBlockToTileOptions &tiles = {},
                   int64_t productWorkspace = int64_t(4) << 20);

/// Real devices, through the CUDA driver: the one of a number, or below 0 that
/// which the calling thread works with.
const CompileTarget &cudaTarget(int device = -1);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_GPUTARGET_H
