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

/// Writes arithmetic on indices in the forms that have instructions of their
/// own, where LLVM's normal form is another one. To be run behind its passes.
void chooseFormsOfIndices(llvm::Module &module);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_INDICES_H
