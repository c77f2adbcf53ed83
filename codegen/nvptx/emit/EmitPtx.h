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

namespace drawloom::nvptx {

struct PtxOptions {
  /// Keeps the places in the source that the module's locations name, so that
  /// profilers and compute-sanitizer show them. They do not change the code.
  bool lineInfo = true;
};

struct DeviceCode {
  std::string llvmIr; ///< Optimized.
  std::string ptx;
  double milliseconds = 0; ///< Wall time of the passes and of the back end.
};

/// PTX of all kernels of a kernel module (KernelInfo.h), with the LLVM IR in
/// front of it. Refuses what the back end would abort on, and says which kernel
/// holds it.
llvm::Expected<DeviceCode> emitDeviceCode(mlir::ModuleOp kernelModule,
                                          llvm::StringRef arch,
                                          const PtxOptions &options = {});

/// The PTX alone.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp kernelModule,
                                    llvm::StringRef arch,
                                    const PtxOptions &options = {});

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_EMITPTX_H
