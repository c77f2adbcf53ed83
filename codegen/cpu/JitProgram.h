//===- JitProgram.h - machine code in this process ------------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_JITPROGRAM_H
#define DRAWLOOM_CODEGEN_CPU_JITPROGRAM_H

#include "codegen/Program.h"
#include <memory>

namespace drawloom::cpu {

/// Links a variant, whose code is an object file, into this process.
llvm::Expected<std::unique_ptr<Program>>
loadProgram(const Artifact::Variant &variant);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_JITPROGRAM_H
