//===- Pipeline.h - the CPU's passes, phase by phase ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_PIPELINE_H
#define DRAWLOOM_CODEGEN_CPU_PIPELINE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace drawloom::cpu {

struct CpuOptions {
  /// See Target.h. Decides on register tiles only.
  std::string isa = "native";
};

/// From block programs (functions on static tensors, no domain op left) to
/// register tiles: vectors, no linalg op.
void buildVectors(mlir::OpPassManager &pm, const CpuOptions &options);
/// From there to memory instead of tensors.
void buildBuffers(mlir::OpPassManager &pm, const CpuOptions &options);
/// From there to one range function for each block program.
void buildKernels(mlir::OpPassManager &pm, const CpuOptions &options);
/// From there to the llvm dialect, entries as in drawloom/runtime/Abi.h.
void buildLlvm(mlir::OpPassManager &pm, const CpuOptions &options);

/// The dialects that these passes make, and the external models that they call.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_PIPELINE_H
