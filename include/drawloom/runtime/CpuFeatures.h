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

/// Explains why code that uses `feature` cannot run in this process, as in "its
/// processor lacks avx512f"; empty if it can. Features have LLVM's names. For
/// AMX, this requests permission to use its registers from the system.
std::string lacks(std::string_view feature);

/// Returns, as hexadecimal words, the features that the processor reports and
/// the registers that the system saves.
std::string processorWords();
/// Returns whether this machine has all features that another machine reported
/// in `words`.
bool hasProcessorWords(std::string_view words);
/// Returns whether `have` includes all features of `wanted`; both are
/// processorWords() of some machines.
bool includesWords(std::string_view have, std::string_view wanted);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CPUFEATURES_H
