//===- CompileKernels.h - from kernel modules to cubins ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_COMPILEKERNELS_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_COMPILEKERNELS_H

#include "codegen/nvptx/emit/EmitPtx.h"
#include "codegen/nvptx/emit/KernelInfo.h"
#include "codegen/nvptx/emit/Ptxas.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace drawloom::nvptx {

enum class Assemble {
  Never,   ///< PTX only.
  IfFound, ///< PTX only if no assembler is found; adds a note then.
  Always   ///< An error if no assembler is found.
};

struct KernelOptions {
  PtxOptions ptx;
  Assemble assemble = Assemble::IfFound;
  std::string ptxas; ///< See Ptxas::find.
};

struct CompiledKernel {
  KernelInfo info;
  std::string llvmIr, ptx;
  std::string cubin;  ///< Empty if not assembled.
  std::string module; ///< The kernel module as text, for an emulator to run.
  std::optional<KernelUsage> usage; ///< Present together with the cubin.
  double llvmMilliseconds = 0, ptxasMilliseconds = 0;
};

/// The kernels of one module, compiled for one architecture.
struct CompiledKernels {
  const Architecture *architecture = nullptr;
  std::vector<CompiledKernel> kernels;
  std::string assembler; ///< Version of ptxas; empty without cubins.
  std::string note; ///< Why there are no cubins, as a message for the user.
  /// How entries become launches, in a form that is up to the caller; opaque
  /// here.
  llvm::json::Value plan = nullptr;
};

/// Compiles each kernel separately, since loaders take one kernel per image;
/// the assembler processes several of them concurrently. Nothing is cached
/// here: the artifact of the whole program is cached instead.
llvm::Expected<CompiledKernels> compileKernels(mlir::ModuleOp kernelModule,
                                               const Architecture &architecture,
                                               const KernelOptions &options);

/// Prints one line per kernel: threads, shared memory, registers, spills, bytes
/// of machine code and the time that LLVM and ptxas took.
void printUsage(const CompiledKernels &compiled, llvm::raw_ostream &stream);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_COMPILEKERNELS_H
