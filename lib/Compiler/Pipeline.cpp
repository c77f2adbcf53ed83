//===- Pipeline.cpp - the phases as passes --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Pipeline.h"
#include "lib/Compiler/Compiler.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace drawloom {

llvm::LogicalResult compile(ModuleOp module, const CompileOptions &options) {
  cpu::CpuOptions cpuOptions;
  cpuOptions.isa = options.isa;
  for (Phase phase : allPhases()) {
    if (phase <= options.from || phase > options.to)
      continue;
    PassManager pm(module.getContext());
    pm.enableVerifier(options.verify);
    switch (phase) {
    case Phase::Vectors:
      cpu::buildVectors(pm, cpuOptions);
      break;
    case Phase::Buffers:
      cpu::buildBuffers(pm, cpuOptions);
      break;
    case Phase::Kernels:
      cpu::buildKernels(pm, cpuOptions);
      break;
    case Phase::Llvm:
      cpu::buildLlvm(pm, cpuOptions);
      break;
    default:
      break;
    }
    if (options.configure)
      options.configure(pm);
    if (failed(pm.run(module)))
      return failure();
  }
  return success();
}

} // namespace drawloom
