//===- Targets.h - the machines that programs are compiled for  -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_TARGETS_H
#define DRAWLOOM_LIB_COMPILER_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace drawloom {

class CompileTarget;

llvm::ArrayRef<const CompileTarget *> allTargets();
/// Returns the names of a target's instruction sets, for --help.
std::string instructionSetHelp(const CompileTarget &target);
/// Finds a target; on failure, the error lists the known ones.
llvm::Expected<const CompileTarget *> findTarget(llvm::StringRef name);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_TARGETS_H
