//===- StreamStores.h - results written past the cache ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ordinary store reads its cache line before it writes it: a third of the
// traffic of a kernel that writes what it reads. Where a call's data exceed
// the caches, its results leave them before anyone reads them, and are better
// stored past them. cpu-kernels chooses by size, or lets calls choose whose
// extents are open (bits do not depend on it),
// cpu-stream-stores makes the stores, and guardStreamedStores keeps those that
// memory is not aligned for ordinary: no caller must promise anything.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_LLVM_STREAMSTORES_H
#define DRAWLOOM_CODEGEN_CPU_LLVM_STREAMSTORES_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/IR/Value.h"

namespace mlir::LLVM {
class LLVMFuncOp;
} // namespace mlir::LLVM

namespace drawloom::cpu {

inline constexpr int64_t cacheLineBytes = 64;

/// Whether all uses of `memory`, and of views of it, are vectors' writes.
bool isOnlyWritten(mlir::Value memory);

void guardStreamedStores(mlir::LLVM::LLVMFuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_LLVM_STREAMSTORES_H
