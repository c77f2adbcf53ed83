//===- CLibrary.h - what generated code may call ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CLIBRARY_H
#define DRAWLOOM_RUNTIME_CLIBRARY_H

#include <string_view>
#include <utility>
#include <vector>

namespace drawloom::runtime {

/// Returns the C library functions that generated code may call, with their
/// addresses in this process: LLVM turns loops into calls of the memory
/// functions, and MLIR turns f64 math into calls of the others.
std::vector<std::pair<std::string_view, void *>> cLibrarySymbols();

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CLIBRARY_H
