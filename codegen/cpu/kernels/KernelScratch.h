//===- KernelScratch.h - memory of block programs ---------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_KERNELSCRATCH_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_KERNELSCRATCH_H

#include "codegen/cpu/Signature.h"
#include "codegen/cpu/kernels/OpenSizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace drawloom::cpu {

/// Places the buffers of a block. Small ones are on the stack, up to
/// `stackBytes`, allocated once for all blocks of a range; the others are in
/// the thread's scratch memory, which becomes the kernel's last argument:
/// buffers of known size first, then those whose size depends on open extents.
/// The max scratch size is recorded in `signature`.
mlir::LogicalResult
placeKernelBuffers(mlir::func::FuncOp kernel, int64_t stackBytes,
                   llvm::function_ref<SizeSource(mlir::Value)> source,
                   FunctionSignature &signature);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_KERNELSCRATCH_H
