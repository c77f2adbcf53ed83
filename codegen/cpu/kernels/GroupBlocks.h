//===- GroupBlocks.h - block programs that run together ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind a fused training step, each parameter has a small block program of its
// own: ordered sums of the blocks' partial results, and the optimizer's update.
// Nothing orders these among themselves. As one kernel they cost one wait of
// all threads, and each thread gets its share of every one of them.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_GROUPBLOCKS_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_GROUPBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::cpu {

using BlockGroup = llvm::SmallVector<mlir::scf::ForallOp>;

/// The outermost block programs of a function on memory, in order; those that
/// touch no memory that another of their group, or what stands between,
/// writes are together. What the later ones of a group need is moved in front
/// of its first.
llvm::SmallVector<BlockGroup> groupBlocks(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_GROUPBLOCKS_H
