//===- EmitPtx.h - from kernel modules to PTX ---------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_EMITPTX_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_EMITPTX_H

#include "codegen/nvptx/emit/Architectures.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace drawloom::nvptx {

struct PtxOptions {
  /// Keeps the source locations of the module, so that profilers and
  /// compute-sanitizer show them. They do not change the code.
  bool lineInfo = true;
};

struct DeviceCode {
  std::string llvmIr; ///< After optimization.
  std::string ptx;
  double milliseconds = 0; ///< Wall time of the passes and of the back end.
};

/// LLVM IR from which the back end makes PTX.
struct DeviceIr {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

/// Returns the optimized LLVM IR of all kernels of a kernel module
/// (KernelInfo.h). `translated` is called with the IR before optimization.
llvm::Expected<DeviceIr>
emitDeviceIr(mlir::ModuleOp kernelModule, const Architecture &architecture,
             const PtxOptions &options, llvm::LLVMContext &context,
             llvm::function_ref<void(llvm::Module &)> translated = nullptr);

/// Returns the PTX of all kernels of a kernel module (KernelInfo.h), and the
/// LLVM IR it was made from. Refuses IR on which the back end would abort,
/// naming the kernel that contains it.
llvm::Expected<DeviceCode> emitDeviceCode(mlir::ModuleOp kernelModule,
                                          llvm::StringRef arch,
                                          const PtxOptions &options = {});

/// Returns only the PTX.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp kernelModule,
                                    llvm::StringRef arch,
                                    const PtxOptions &options = {});

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_EMITPTX_H
