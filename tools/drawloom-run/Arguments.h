//===- Arguments.h - the arguments of a run ---------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_ARGUMENTS_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_ARGUMENTS_H

#include "tools/drawloom-run/Options.h"
#include "tools/drawloom-run/Values.h"

namespace drawloom::run {

/// The functions that the command line asks for. Errors list what there is.
llvm::Expected<std::vector<EntryPoint>>
chooseEntries(std::vector<EntryPoint> entries, const Options &options);

/// Arguments of `entry` from files or at random.
llvm::Expected<std::vector<Value>> makeArguments(const EntryPoint &entry,
                                                 const Options &options);

/// Fails unless writeResults can write to the path: found before a long run,
/// not after it.
llvm::Error checkOutput(llvm::StringRef path);
/// The same for a file of any kind.
llvm::Error checkFile(llvm::StringRef path);
llvm::Error writeResults(llvm::StringRef path, const EntryPoint &entry,
                         llvm::ArrayRef<Value> results);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_ARGUMENTS_H
