//===- TritonMetadata.h - what Triton's loader reads --------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_TRITONMETADATA_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_TRITONMETADATA_H

#include "codegen/nvptx/emit/CompileKernels.h"

namespace drawloom::nvptx {

/// Returns the metadata that Triton 3.6.0 stores next to a kernel: all of its
/// keys, and `cluster_dims`, which 3.5 and older require.
llvm::json::Object tritonMetadata(const CompiledKernel &kernel,
                                  const Architecture &architecture,
                                  llvm::StringRef hash);

/// Returns the list of a kernel's files. Triton's list holds absolute paths;
/// this one holds file names only, so that the folder can be moved.
llvm::json::Object tritonGroup(llvm::ArrayRef<std::string> names);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_TRITONMETADATA_H
