//===- KernelInfo.h - the kernels of a kernel module --------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel module is what the NVIDIA target ends with: a module of the `llvm`
// and `nvvm` dialects, whose kernels are `llvm.func`s with `nvvm.kernel`. Their
// parameters are those of Triton's kernels: pointers to global memory and
// scalars, then two pointers to scratch memory that are null here.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_KERNELINFO_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_KERNELINFO_H

#include "codegen/nvptx/emit/Architectures.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace drawloom::nvptx {

/// One parameter that a caller gives; the two of scratch memory are not listed.
struct KernelParameter {
  std::string
      name; ///< From the attribute `drawloom.name`, else arg0, arg1, ...
  std::string kind; ///< "ptr", "i1" to "i64", "f16", "bf16", "f32", "f64".
  /// Of a pointer: what it must be a multiple of (llvm.align), and whether it
  /// may be null (not with llvm.nonnull). Callers check both.
  int64_t alignment = 1;
  bool nonnull = false;
  /// Of a pointer that no other one may reach the memory of: the bytes behind
  /// it (drawloom.bytes), 0 if they are not known, and whether the kernel
  /// writes there (not with llvm.readonly). Callers check overlaps.
  int64_t bytes = 0;
  bool written = false;
};

struct KernelInfo {
  std::string name;
  std::vector<KernelParameter> parameters;
  unsigned threads = 0;          ///< Of a block; a multiple of 32.
  int64_t sharedBytes = 0;       ///< Dynamic shared memory to ask for.
  int64_t staticSharedBytes = 0; ///< Shared memory of the module's own.
};

/// Checks what the module holds and that each kernel can be launched on the
/// architecture; names the kernel, the figure and the limit in errors. An error
/// where there is no kernel.
llvm::Expected<std::vector<KernelInfo>>
describeKernels(mlir::ModuleOp module, const Architecture &architecture);

/// A copy of the module in which `kernel` is the only kernel: Triton's loader
/// and the drivers take one kernel per image.
mlir::OwningOpRef<mlir::ModuleOp> extractKernel(mlir::ModuleOp module,
                                                llvm::StringRef kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_KERNELINFO_H
