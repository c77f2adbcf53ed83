//===- CLibrary.h - what generated code may call ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CLIBRARY_H
#define DRAWLOOM_CODEGEN_CLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <utility>
#include <vector>

namespace drawloom {

/// The C library's functions that generated code may call, with their
/// addresses in this process: LLVM makes calls of the memory functions out of
/// loops, MLIR of the rest out of f64 mathematics.
std::vector<std::pair<llvm::StringRef, void *>> cLibrarySymbols();

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_CLIBRARY_H
