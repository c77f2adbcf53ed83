//===- CheckIr.h - LLVM IR that the NVPTX back end accepts --- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_CHECKIR_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_CHECKIR_H

#include "codegen/nvptx/emit/Architectures.h"

namespace llvm {
class Module;
} // namespace llvm

namespace drawloom::nvptx {

/// Refuses instructions for which LLVM's back end has no code and would abort
/// the process, and instructions that would silently be approximated: math
/// functions without instructions, instructions of newer architectures, atomic
/// orderings that would be lost, calls of undefined functions.
llvm::Error checkIr(const llvm::Module &module,
                    const Architecture &architecture);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_CHECKIR_H
