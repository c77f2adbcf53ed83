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

/// The place at which a text nests brackets (or minus signs) deeper than any
/// real program, and a message about it. MLIR's parser recurses for each, until
/// the stack overflows.
struct DeepNesting {
  unsigned line, column;
  std::string message;
};
std::optional<DeepNesting> findDeepNesting(llvm::StringRef text);

/// Reads a file, or, for "-", the standard input. From a special file, which
/// may be endless, reads no more than the max size of a program.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInput(const std::string &path);

/// For tools whose command line upstream parses: checks the files that it
/// names, or else the standard input, for problems that their parser does not
/// handle. Prints what is wrong and returns false.
bool checkInputs(int argc, char **argv);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_INPUTS_H
