//===- Lanes.h - values of other lanes --------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LANES_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LANES_H

#include "codegen/nvptx/lower/ThreadProgram.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace drawloom::nvptx {

/// Returns the value of lane `other` (i32); `kind` determines how `other` is
/// interpreted. Values of any type travel in words.
mlir::Value exchange(ThreadProgram &program, mlir::Value value,
                     mlir::Value other, mlir::NVVM::ShflKind kind);

/// Returns the value of the lane whose number differs in the bits of `mask`.
mlir::Value shuffle(ThreadProgram &program, mlir::Value value, int64_t mask);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LANES_H
