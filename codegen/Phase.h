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

/// The states of a program on its way to machine code, in order. A tool starts
/// after one and stops at another; each can be printed and parsed. What holds
/// in the states behind `Blocks`, and what they are called, is their target's
/// business (CompileTarget::phaseText).
enum class Phase {
  Input,          ///< As written: graph-level ops, differentiation requests.
  Differentiated, ///< No ad op left: gradients are plain graph-level ops.
  Structured,     ///< Domain ops decomposed into linalg, neighbours merged.
  Blocks,  ///< Block programs: scf.forall over tiles, and what is between.
  Tiles,   ///< Values in registers; no linalg op left.
  Memory,  ///< Every value has its place; results are arguments.
  Kernels, ///< Functions that are launched, complete but for their
           ///< instructions.
  Llvm,    ///< The llvm dialect.
};

llvm::ArrayRef<Phase> allPhases();

/// A phase's name, and one sentence for --help.
struct PhaseText {
  llvm::StringRef name, description;
};
/// What a phase is called where its target has no name of its own for it.
PhaseText commonPhaseText(Phase phase);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_PHASE_H
