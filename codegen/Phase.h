//===- Phase.h - the states of a program on its way down ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_PHASE_H
#define DRAWLOOM_CODEGEN_PHASE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace drawloom {

/// The named states of a program on its way to machine code, in order. A tool
/// starts after one and stops at another; each can be printed and parsed.
enum class Phase {
  Input,          ///< As written: graph-level ops, differentiation requests.
  Differentiated, ///< No ad op left: gradients are plain graph-level ops.
  Structured,     ///< Domain ops decomposed into linalg, neighbours merged.
  Blocks,  ///< Block programs: scf.forall over tiles, and what is between.
  Vectors, ///< Register tiles as vectors; no linalg op left.
  Buffers, ///< Memory instead of tensors; results are arguments.
  Kernels, ///< One range function for each block program, and a host entry.
  Llvm,    ///< The llvm dialect.
};

llvm::ArrayRef<Phase> allPhases();
/// "input", "differentiated", ...
llvm::StringRef phaseName(Phase phase);
/// One sentence for --help.
llvm::StringRef phaseDescription(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_PHASE_H
