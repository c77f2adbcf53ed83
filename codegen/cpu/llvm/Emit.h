//===- Emit.h - from the llvm dialect to object files --------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_LLVM_EMIT_H
#define DRAWLOOM_CODEGEN_CPU_LLVM_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>

namespace drawloom::cpu {

enum class CodeKind { LlvmIr, Assembly, Object };

/// Compiles a module of the llvm dialect for an instruction set (see
/// InstructionSet.h), with optimization. If `cancelled` is set, fails soon
/// after it has returned true.
llvm::Expected<std::string>
emitCode(mlir::ModuleOp module, llvm::StringRef isa, CodeKind kind,
         const std::function<bool()> &cancelled = nullptr);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_LLVM_EMIT_H
