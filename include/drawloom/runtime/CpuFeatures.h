//===- CpuFeatures.h - what this processor can do --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CPUFEATURES_H
#define DRAWLOOM_RUNTIME_CPUFEATURES_H

#include <string>
#include <string_view>

namespace drawloom::runtime {

/// Why code that uses a feature cannot run in this process, as in "its
/// processor lacks avx512f"; empty where it can. Features have LLVM's names.
/// For AMX, asks the system for its registers.
std::string lacks(std::string_view feature);

/// What the processor says that it can do, and which registers the system
/// saves, as hexadecimal words.
std::string processorWords();
/// Whether this machine can do all that another one says in `words`.
bool hasProcessorWords(std::string_view words);
/// The same for any two.
bool includesWords(std::string_view have, std::string_view wanted);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CPUFEATURES_H
