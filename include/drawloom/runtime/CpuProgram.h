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

/// In front of an entry's name in machine code: a program may call its function
/// @exp, which is a name of the C library's there.
inline constexpr std::string_view entryPrefix = "drawloom_";
/// Behind a kernel's name: what the host is given to call.
inline constexpr std::string_view rangeSuffix = "_range";

/// Links a variant, whose code is an object file, into this process.
Result<std::unique_ptr<Executable>>
loadCpuProgram(const Artifact::Variant &variant);

/// The first variant for the CPU that this machine runs; the one for `isa`
/// where that is given. The error says what the machine lacks for each.
Result<const Artifact::Variant *> chooseVariant(const Artifact &artifact,
                                                std::string_view isa = "");

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CPUPROGRAM_H
