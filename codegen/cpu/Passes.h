//===- Passes.h - passes from block programs to machine code ----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_PASSES_H
#define DRAWLOOM_CODEGEN_CPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace drawloom::cpu {

#define GEN_PASS_DECL
#include "codegen/cpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/cpu/Passes.h.inc"

/// Integer attribute of a function: the number of block-level ops that it was
/// made from.
inline constexpr llvm::StringLiteral sourceOpsAttr = "drawloom.source_ops";

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_PASSES_H
