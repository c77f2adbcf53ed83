//===- Inputs.h - programs before they are parsed --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_INPUTS_H
#define DRAWLOOM_LIB_COMPILER_INPUTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>

namespace drawloom {

/// Where a text nests its brackets (or minus signs) deeper than any program
/// does, and what to say of it. MLIR's parser calls itself for each, until the
/// stack is full.
struct DeepNesting {
  unsigned line, column;
  std::string message;
};
std::optional<DeepNesting> findDeepNesting(llvm::StringRef text);

/// Reads a file, or for "-" the standard input. Of what is no regular file, and
/// may never end, no more than a program has.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInput(const std::string &path);

/// For tools whose command line upstream reads: checks the files that it names,
/// else the standard input, as their parser does not. Prints what is wrong, and
/// gives false.
bool checkInputs(int argc, char **argv);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_INPUTS_H
