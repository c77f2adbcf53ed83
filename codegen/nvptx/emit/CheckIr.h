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

/// LLVM's back end ends the process over an instruction that it has no code
/// for. This finds the ones that a kernel module can hold, and those that would
/// become an approximation nobody asked for: mathematics without instructions,
/// instructions of newer architectures, orders of atomics that would be lost,
/// calls of functions that nothing defines.
llvm::Error checkIr(const llvm::Module &module,
                    const Architecture &architecture);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_CHECKIR_H
