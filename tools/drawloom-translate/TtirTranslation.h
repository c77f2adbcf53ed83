//===- TtirTranslation.h - programs as Triton kernels --------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_TRANSLATE_TTIRTRANSLATION_H
#define DRAWLOOM_TOOLS_TRANSLATE_TTIRTRANSLATION_H

#include <string>

namespace drawloom {

/// Registers --mlir-to-ttir (the kernels' text, apart by `// -----`) and
/// --mlir-to-ttir-json (what exportTtir describes). Called before the command
/// line is read; `from` holds the phase that --compile-from names when a
/// translation runs.
void registerTtirTranslation(const std::string &from);

} // namespace drawloom

#endif // DRAWLOOM_TOOLS_TRANSLATE_TTIRTRANSLATION_H
