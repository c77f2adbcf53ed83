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
/// after one and stops at another; each can be printed and parsed. The names
/// and invariants of the states behind `Blocks` depend on the target
/// (CompileTarget::phaseText).
enum class Phase {
  Input,          ///< As written: graph-level ops, differentiation requests.
  Differentiated, ///< No ad op left: gradients are plain graph-level ops.
  Structured,     ///< Domain ops decomposed into linalg, neighbours merged.
  Blocks,  ///< Block programs (scf.forall over tiles), and ops between them.
  Tiles,   ///< Values in registers; no linalg op left.
  Memory,  ///< Every value has its memory; results are arguments.
  Kernels, ///< Functions to launch, complete except for instructions.
  Llvm,    ///< The llvm dialect.
};

llvm::ArrayRef<Phase> allPhases();

/// A phase's name, and a one-sentence description for --help.
struct PhaseText {
  llvm::StringRef name, description;
};
/// Returns the text of a phase for targets that have no text of their own for
/// it.
PhaseText commonPhaseText(Phase phase);

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_PHASE_H
