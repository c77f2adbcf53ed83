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

/// Buffers of a block: the small ones on the stack, up to `stackBytes`, once
/// for all blocks of a range; the rest in the thread's scratch memory, which
/// becomes the kernel's last argument: behind those of known size, those whose
/// size follows from open extents. `signature` learns how much that is at most.
mlir::LogicalResult
placeKernelBuffers(mlir::func::FuncOp kernel, int64_t stackBytes,
                   llvm::function_ref<SizeSource(mlir::Value)> source,
                   FunctionSignature &signature);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_KERNELSCRATCH_H
