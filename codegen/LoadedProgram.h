//===- LoadedProgram.h - the runtime's programs, with LLVM's types -*- C++ -*-//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_LOADEDPROGRAM_H
#define DRAWLOOM_CODEGEN_LOADEDPROGRAM_H

#include "codegen/Program.h"
#include "drawloom/runtime/Executable.h"
#include <memory>

namespace drawloom {

/// Converts a program loaded by the runtime, or its error, to LLVM's types.
llvm::Expected<std::unique_ptr<Program>>
toProgram(runtime::Result<std::unique_ptr<runtime::Executable>> loaded);

/// Converts a failure of the runtime to an error; for a failure of a store, its
/// code is an I/O error.
llvm::Error toError(const runtime::Status &status);
runtime::Status toStatus(llvm::Error error);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_LOADEDPROGRAM_H
