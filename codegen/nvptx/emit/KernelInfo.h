//===- KernelInfo.h - the kernels of a kernel module --------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel module is the final output of the NVIDIA target: a module of the
// `llvm` and `nvvm` dialects, whose kernels are `llvm.func`s with
// `nvvm.kernel`. Their parameters are those of Triton's kernels: pointers to
// global memory and scalars, then two pointers to scratch memory that are null
// here.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_KERNELINFO_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_KERNELINFO_H

#include "codegen/nvptx/emit/Architectures.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace drawloom::nvptx {

/// A parameter that callers pass; the two scratch pointers are not listed.
struct KernelParameter {
  std::string
      name; ///< From the attribute `drawloom.name`, else arg0, arg1, ...
  std::string kind; ///< "ptr", "i1" to "i64", "f16", "bf16", "f32", "f64".
  /// For a pointer: the required alignment (llvm.align), and whether it may be
  /// null (unless it has llvm.nonnull). Callers check both.
  int64_t alignment = 1;
  bool nonnull = false;
  /// For a pointer whose memory no other pointer may reach: the bytes behind it
  /// (drawloom.bytes), 0 if unknown, and whether the kernel writes to it
  /// (unless it has llvm.readonly). Callers check overlaps.
  int64_t bytes = 0;
  bool written = false;
};

struct KernelInfo {
  std::string name;
  std::vector<KernelParameter> parameters;
  unsigned threads = 0;    ///< Per block; a multiple of 32.
  int64_t sharedBytes = 0; ///< Dynamic shared memory to request.
  /// Static shared memory declared by the module.
  int64_t staticSharedBytes = 0;
};

/// Checks the module's contents, and that each kernel can be launched on the
/// architecture; errors name the kernel, the figure and the limit. A module
/// without kernels is an error.
llvm::Expected<std::vector<KernelInfo>>
describeKernels(mlir::ModuleOp module, const Architecture &architecture);

/// Returns a copy of the module in which `kernel` is the only kernel: Triton's
/// loader and the drivers take one kernel per image.
mlir::OwningOpRef<mlir::ModuleOp> extractKernel(mlir::ModuleOp module,
                                                llvm::StringRef kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_KERNELINFO_H
