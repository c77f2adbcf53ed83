//===- CpuProgram.h - compiled programs on the host's threads --*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CPUPROGRAM_H
#define DRAWLOOM_RUNTIME_CPUPROGRAM_H

#include "drawloom/runtime/Executable.h"
#include <memory>

namespace drawloom::runtime {

/// Prefix of an entry's name in machine code. Without it, a program's function
/// @exp would clash with the C library's.
inline constexpr std::string_view entryPrefix = "drawloom_";
/// Suffix of a kernel's name: marks the function that is passed to the host.
inline constexpr std::string_view rangeSuffix = "_range";

/// Links a variant, whose code is an object file, into this process.
Result<std::unique_ptr<Executable>>
loadCpuProgram(const Artifact::Variant &variant);

/// Returns the first CPU variant that this machine runs, or the one for `isa`
/// if it is given. The error says, for each variant, what the machine lacks.
Result<const Artifact::Variant *> chooseVariant(const Artifact &artifact,
                                                std::string_view isa = "");

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CPUPROGRAM_H
