//===- Indices.h - forms of indices that GPUs compute cheaply ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_INDICES_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_INDICES_H

#include "llvm/IR/Module.h"

namespace drawloom::nvptx {

/// Rewrites index arithmetic from LLVM's normal form into forms that have
/// instructions of their own. To be run after LLVM's passes.
void chooseFormsOfIndices(llvm::Module &module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_INDICES_H
