//===- GroupBlocks.h - block programs that run together ---------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After a fused training step, each parameter has a small block program of its
// own: ordered sums of the blocks' partial results, and the optimizer's update.
// These programs are independent of each other. As one kernel, they cost a
// single wait of all threads, and each thread gets a share of each program.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_KERNELS_GROUPBLOCKS_H
#define DRAWLOOM_CODEGEN_CPU_KERNELS_GROUPBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::cpu {

using BlockGroup = llvm::SmallVector<mlir::scf::ForallOp>;

/// Groups the outermost block programs of a function on memory, in order.
/// Programs are in one group if none touches memory that another one of the
/// group, or an op in between, writes. Values that later programs of a group
/// need are computed in front of the first one.
llvm::SmallVector<BlockGroup> groupBlocks(mlir::func::FuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_KERNELS_GROUPBLOCKS_H
