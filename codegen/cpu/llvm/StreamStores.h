//===- StreamStores.h - results written past the cache ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ordinary store reads its cache line before writing it, which is a third of
// the traffic of a kernel that writes as much as it reads. If a call's data
// exceed the caches, its results are evicted before anyone reads them, and are
// better written past the cache. cpu-kernels decides by size, or, if extents
// are open, lets each call decide (bits do not depend on it); cpu-stream-stores
// creates the stores; and guardStreamedStores uses ordinary stores where memory
// is not aligned, so that callers need not guarantee alignment.
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

/// Returns whether all uses of `memory`, and of views of it, are vector writes.
bool isOnlyWritten(mlir::Value memory);

void guardStreamedStores(mlir::LLVM::LLVMFuncOp function);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_LLVM_STREAMSTORES_H
